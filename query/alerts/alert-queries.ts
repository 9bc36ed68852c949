/** Messages between the main thread and the thread that reads for alerts. */

import type { Metric } from '../../store/tables.ts'
import type { ExportMetric, SeriesTable } from '../export/series-table.ts'

/**
 * Indexed by device number; 1 for a device whose readings are wanted. Threads share the memory, so pieces do not copy
 * it.
 */
export type WantedDevices = Uint8Array<SharedArrayBuffer>

interface PieceQuery {
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Device symbols; undefined where there are too many to name. */
  readonly symbols: readonly string[] | undefined
  readonly wanted: WantedDevices
  readonly metrics: readonly ExportMetric[]
  readonly series: SeriesTable
  readonly rowsMax: number
}

export interface AlertQueries {
  readonly piece: PieceQuery
}

/** Typed arrays as bytes, which are transferred instead of copied. */
export interface PackedPiece {
  /** Int32. */
  readonly devices: Uint8Array
  /** Float64, microseconds. */
  readonly times: Uint8Array
  /** Float64, one column behind the other. */
  readonly values: Uint8Array
  /** Start of the next piece; undefined behind the last one. */
  readonly nextUs: number | undefined
}

/** Rows ascend by time, over all devices and so of each. */
export interface AlertReadings {
  /** Numbers of devices. */
  readonly device: Int32Array
  /** Epoch microseconds. */
  readonly timesUs: Float64Array
  /** One array for each wanted column. NaN marks a missing value. */
  readonly values: readonly Float64Array[]
  readonly length: number
}

export interface AskedReadings {
  /** The series are of its custom metrics, by the wanted column; undefined for a built-in one, or one that it has not. */
  readonly devices: readonly {
    readonly number: number
    readonly symbol: string
    readonly series: readonly (number | undefined)[]
  }[]
  /** Undefined for a metric that is not built in. */
  readonly columns: readonly (Metric | undefined)[]
  /** Epoch microseconds, the second excluded. */
  readonly fromUs: number
  readonly toUs: number
}
