/** Checked rows as columns: typed arrays, which pass between threads without a copy. */

import type { CustomColumns } from './custom-columns.ts'

export interface Rows {
  count: number
  lines: Uint32Array<ArrayBuffer>
  /** Index into the names of the chunk. */
  names: Uint32Array<ArrayBuffer>
  timesMs: Float64Array<ArrayBuffer>
  /** `valuesPerRow` doubles per row. */
  values: Float64Array<ArrayBuffer>
  /** Values without a column. Undefined without any. */
  custom?: CustomColumns | undefined
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

/**
 * The same rows without spare capacity: transferred memory counts in the receiving thread, and a line may be many times as long
 * as the shortest.
 */
export function withoutRoom(rows: Rows): Rows {
  const { count, lines, names, timesMs, values, custom } = rows
  const valuesPerRow = values.length / timesMs.length
  return {
    count,
    lines: new Uint32Array(lines.buffer.transfer(count * lines.BYTES_PER_ELEMENT)),
    names: new Uint32Array(names.buffer.transfer(count * names.BYTES_PER_ELEMENT)),
    timesMs: new Float64Array(timesMs.buffer.transfer(count * timesMs.BYTES_PER_ELEMENT)),
    values: new Float64Array(values.buffer.transfer(count * valuesPerRow * values.BYTES_PER_ELEMENT)),
    custom,
  }
}

/** Includes the custom values' columns. */
export function columnsOf({ lines, names, timesMs, values, custom }: Rows) {
  return [lines, names, timesMs, values, ...(custom === undefined ? [] : Object.values(custom))]
}

/** The memory behind the columns, for the transfer list. */
export function buffersOf(rows: Rows): ArrayBuffer[] {
  return columnsOf(rows).map(({ buffer }) => buffer)
}
