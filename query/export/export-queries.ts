/** What crosses between the main thread and a thread of the exports. */

import type { LowerPriority } from '../../store/thread-priority.ts'
import type { PointUnit } from '../stations/point-units.ts'
import type { WorkerSettings } from '../task.ts'
import type { ExportMetric } from './export-columns.ts'
import type { SeriesTable } from './series-table.ts'

export interface ExportSettings extends WorkerSettings {
  readonly priority: LowerPriority
}

export const exportFormats = ['csv', 'ndjson', 'parquet'] as const
export type ExportFormat = (typeof exportFormats)[number]

/**
 * How a body is laid out: as an import takes it, as a Parquet file, as CSV with the line ends of RFC 4180, or as objects with
 * a time in milliseconds and without the device, as `lines` or as one JSON `array`.
 */
export type Layout = ExportFormat | 'rfc4180' | 'lines' | 'array'

export interface ExportRange {
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Of which devices; undefined for all that there are. */
  readonly symbols: readonly string[] | undefined
  /** Its points instead of readings; undefined for those of devices. */
  readonly station: ExportStation | undefined
}

export interface ExportStation {
  /** In the registry of stations. */
  readonly id: number
  /** The unit in which each of its series with points is written. */
  readonly units: readonly (readonly [series: number, unit: PointUnit])[]
}

/** What is in the columns of an export. */
export interface ExportContent {
  /** In the order of the columns. */
  readonly metrics: readonly ExportMetric[]
  /** Of those among them that have no column in the table of readings. */
  readonly series: SeriesTable
}

interface PieceQuery extends ExportRange, ExportContent {
  readonly layout: Layout
  /** Undefined for the readings themselves; else their aggregates by buckets of this length, of one device. */
  readonly stepUs: number | undefined
  /** The names of devices by their numbers, as `encodeNames` wrote them. Readings of other devices are left out. */
  readonly names: string
  readonly rowsMax: number
  /** Bytes of the file so far. */
  readonly fileOffset: number
}

export interface ExportQueries {
  readonly piece: PieceQuery
  readonly count: ExportRange
  /** The end of a Parquet file. */
  readonly footer: {
    readonly rowGroups: readonly Uint8Array[]
    readonly fileOffset: number
    readonly stepUs: number | undefined
    readonly metrics: readonly ExportMetric[]
  }
}

export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** What the footer of a Parquet file tells of its groups of rows; serialized, for main only collects it. */
  readonly rowGroups?: Uint8Array<ArrayBuffer>
  /** How many readings were read, those that were left out among them. */
  readonly readingsRead: number
  /** Where the next piece begins; undefined behind the last one. */
  readonly nextUs: number | undefined
  readonly nextOffset: number
}

export interface Count {
  readonly rows: number
}

export interface Footer {
  readonly bytes: Uint8Array<ArrayBuffer>
}

export type ExportResult = Piece | Count | Footer

export interface NamedDevice {
  readonly number: number
  readonly name: string
}

/** Text, because it is quicker to post than a hundred thousand objects. */
export function encodeNames(devices: readonly NamedDevice[]): string {
  return JSON.stringify(devices.map(({ number, name }) => [number, name]))
}

/** The same names come with every piece of an export, so the last ones are cached. */
export function createNamesReader(): (text: string) => ReadonlyMap<number, string> {
  let lastText = '[]'
  let last: ReadonlyMap<number, string> = new Map()
  return text => {
    if (text !== lastText) {
      last = new Map(JSON.parse(text) as [number, string][])
      lastText = text
    }
    return last
  }
}
