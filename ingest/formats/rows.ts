/** Checked rows as columns: typed arrays, which pass between threads without a copy. */

import { type CustomValues, customLength } from '../journal/record.ts'

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

interface CustomColumns {
  /** Each row has the index of its last value plus one; 0 without values. */
  lasts: Uint32Array<ArrayBuffer>
  /** Each value has the index of the previous value in the same row plus one; 0 without one. */
  previous: Uint32Array<ArrayBuffer>
  /** The number of its series. */
  series: Uint32Array<ArrayBuffer>
  values: Float64Array<ArrayBuffer>
}

const lengthMin = 64

/** Values without a column, created for the first of them. The values of a row form a linked list from last to first. */
export class CustomRows {
  #lasts = new Uint32Array(lengthMin)
  #previous = new Uint32Array(lengthMin)
  #series = new Uint32Array(lengthMin)
  #values = new Float64Array(lengthMin)
  #count = 0

  /** Number of values. */
  get count(): number {
    return this.#count
  }

  /** A later value of the same series replaces an earlier one. */
  put(row: number, series: number, value: number): void {
    if (row >= this.#lasts.length) this.#lasts = grownTo(this.#lasts, row + 1)
    const last = this.#lasts[row] as number
    for (let next = last; next !== 0; next = this.#previous[next - 1] as number) {
      if (this.#series[next - 1] !== series) continue
      this.#values[next - 1] = value
      return
    }
    if (this.#count === this.#values.length) this.#growValues()
    const at = this.#count++
    this.#previous[at] = last
    this.#series[at] = series
    this.#values[at] = value
    this.#lasts[row] = at + 1
  }

  putAll(row: number, { series, values }: CustomValues): void {
    for (let index = 0; index < series.length; index++) this.put(row, series[index] as number, values[index] as number)
  }

  /** Returns the columns for this many rows, without spare capacity. Nothing can be added afterwards. */
  take(rowCount: number): CustomColumns {
    return {
      lasts: resized(this.#lasts, rowCount),
      previous: resized(this.#previous, this.#count),
      series: resized(this.#series, this.#count),
      values: new Float64Array(this.#values.buffer.transfer(8 * this.#count)),
    }
  }

  #growValues(): void {
    const length = 2 * this.#count
    this.#previous = resized(this.#previous, length)
    this.#series = resized(this.#series, length)
    this.#values = new Float64Array(this.#values.buffer.transfer(8 * length))
  }
}

function grownTo(numbers: Uint32Array<ArrayBuffer>, lengthWanted: number): Uint32Array<ArrayBuffer> {
  return resized(numbers, Math.max(2 * numbers.length, lengthWanted))
}

function resized(numbers: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(numbers.buffer.transfer(numbers.BYTES_PER_ELEMENT * length))
}

/** Bytes of these values in the records of this many rows. */
export function customBytesOf(columns: CustomColumns, rowCount: number): number {
  let length = 0
  for (let row = 0; row < rowCount; row++) length += customLength(countOf(columns, row))
  return length
}

function countOf({ lasts, previous }: CustomColumns, row: number): number {
  let count = 0
  for (let next = lasts[row] as number; next !== 0; next = previous[next - 1] as number) count++
  return count
}

/** Undefined for a row without values. */
export function customOf({ lasts, previous, series, values }: CustomColumns, row: number): CustomValues | undefined {
  let next = lasts[row] as number
  if (next === 0) return undefined
  const found: { series: number[]; values: number[] } = { series: [], values: [] }
  for (; next !== 0; next = previous[next - 1] as number) {
    found.series.push(series[next - 1] as number)
    found.values.push(values[next - 1] as number)
  }
  return found
}
