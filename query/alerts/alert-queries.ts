/** What crosses between the main thread and the thread that reads for alerts. */

import type { ExportMetric } from '../export/export-columns.ts'
import type { SeriesTable } from '../export/series-table.ts'

/** By the number of a device 1 where its readings are wanted, in memory that threads share, so that no piece copies it. */
export type WantedDevices = Uint8Array<SharedArrayBuffer>

interface PieceQuery {
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Of the devices; undefined where they are too many to name. */
  readonly symbols: readonly string[] | undefined
  readonly wanted: WantedDevices
  readonly metrics: readonly ExportMetric[]
  readonly series: SeriesTable
  readonly rowsMax: number
}

export interface AlertQueries {
  readonly piece: PieceQuery
}

/** Typed arrays as bytes, which change hands instead of being copied. */
export interface PackedPiece {
  /** Int32. */
  readonly devices: Uint8Array
  /** Float64, microseconds. */
  readonly times: Uint8Array
  /** Float64, one column behind the other. */
  readonly values: Uint8Array
  /** Where the next piece begins; undefined behind the last one. */
  readonly nextUs: number | undefined
}
