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
  /** Where the next rows begin; undefined when there are none. */
  readonly nextUs: number | undefined
}
