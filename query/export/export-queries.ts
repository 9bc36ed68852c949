/** Messages between the main thread and a thread of the exports. */

import type { LowerPriority } from '../../store/thread-priority.ts'
import type { PointUnit } from '../stations/point-units.ts'
import type { WorkerSettings } from '../task.ts'
import type { ExportMetric, SeriesTable } from './series-table.ts'

export interface ExportSettings extends WorkerSettings {
  readonly priority: LowerPriority
}

export const exportFormats = ['csv', 'ndjson', 'parquet'] as const
export type ExportFormat = (typeof exportFormats)[number]

/**
 * The layout of a body: as an import takes it, as a Parquet file, as CSV with the line ends of RFC 4180, or as objects.
 * Objects have a time in milliseconds and no device, as `lines` or as one JSON `array`.
 */
export type Layout = ExportFormat | 'rfc4180' | 'lines' | 'array'

export interface ExportRange {
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Devices to export; undefined for all. */
  readonly symbols: readonly string[] | undefined
  /** The station whose points are read instead of readings; undefined for readings of devices. */
  readonly station: ExportStation | undefined
}

export interface ExportStation {
  /** Number in the registry of stations. */
  readonly id: number
  /** The unit in which each of its series with points is written. */
  readonly units: readonly (readonly [series: number, unit: PointUnit])[]
}

export interface ExportContent {
  /** Metrics are in the order of the columns. */
  readonly metrics: readonly ExportMetric[]
  /** The metrics without a column in the table of readings. */
  readonly series: SeriesTable
}

interface PieceQuery extends ExportRange, ExportContent {
  readonly layout: Layout
  /** Length of the buckets of aggregates, of one device; undefined for the readings themselves. */
  readonly stepUs: number | undefined
  /** The names of devices by their numbers, as `encodeNames` wrote them. Readings of other devices are left out. */
  readonly names: string
  readonly rowsMax: number
  readonly fileOffset: number
  /** Readings are counted if it is true. */
  readonly isFirst: boolean
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
  /**
   * Descriptions of row groups for the footer of a Parquet file. They are serialized, because the main thread only
   * collects them.
   */
  readonly rowGroups?: Uint8Array<ArrayBuffer>
  /** Number of readings read, including those that were left out. */
  readonly readingsRead: number
  /** Number of readings after this piece was read: of the next pieces, or of the range where there are none. */
  readonly count: number | undefined
  /** Start of the next piece; undefined behind the last one. */
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

/** Rows of a piece of an export. */

/** Columns of the same length. */
export interface ExportRows {
  readonly timesUs: Float64Array
  readonly devices: Float64Array
  /** One array for each column, in the order of `columnsOf`; NaN for a missing value. */
  readonly values: readonly Float64Array[]
  /** The positions of the rows in their order. */
  readonly order: Uint32Array
}

export interface ReadPiece {
  readonly rows: ExportRows
  readonly readingsRead: number
  /** Start of the next rows; undefined when there are none. */
  readonly nextUs: number | undefined
}
