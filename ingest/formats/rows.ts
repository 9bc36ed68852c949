/** Checked rows as columns: what travels between the threads, since typed arrays change hands without a copy. */

export interface Rows {
  count: number
  lines: Uint32Array<ArrayBuffer>
  /** Index into the names of the chunk. */
  names: Uint32Array<ArrayBuffer>
  timesMs: Float64Array<ArrayBuffer>
  /** As many a row as its kind has. */
  values: Float64Array<ArrayBuffer>
}

export function createRows(rowsMax: number, valuesPerRow: number): Rows {
  return {
    count: 0,
    lines: new Uint32Array(rowsMax),
    names: new Uint32Array(rowsMax),
    timesMs: new Float64Array(rowsMax),
    values: new Float64Array(rowsMax * valuesPerRow),
  }
}

/** The memory behind the columns, for the list of what changes hands. */
export function buffersOf(rows: Rows): ArrayBuffer[] {
  return [rows.lines.buffer, rows.names.buffer, rows.timesMs.buffer, rows.values.buffer]
}
