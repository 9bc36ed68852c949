/** Rows merged by device and time: later values for the same two are written into the same row. */

import { randomInt } from 'node:crypto'
import { CustomRows } from './custom-columns.ts'
import { readingRows } from './reading-rows.ts'
import { createRows, type Rows } from './rows.ts'

const { valuesPerRow } = readingRows

export class MergedRows {
  #rows: Rows
  #capacity: number
  #count = 0
  #devices: Uint32Array
  #timesMs: Float64Array
  #values: Float64Array
  /** An open hash table of rows plus one; 0 for a free slot. At most half of the slots are used. */
  #slots: Int32Array
  readonly #hash = createRowHash()
  #last = 0
  #custom: CustomRows | undefined

  /** `rowsExpected` is a power of two. */
  constructor(rowsExpected: number) {
    this.#capacity = rowsExpected
    this.#slots = new Int32Array(2 * rowsExpected)
    this.#rows = createRows(rowsExpected, valuesPerRow)
    this.#devices = this.#rows.names
    this.#timesMs = this.#rows.timesMs
    this.#values = this.#rows.values
  }

  get count(): number {
    return this.#count
  }

  /** Number of their values without a column. */
  get customCount(): number {
    return this.#custom?.count ?? 0
  }

  /** Sets the values other than NaN, and returns the row. It keeps the number of its first line. */
  put(line: number, device: number, timeMs: number, values: Float64Array): number {
    const row = this.#isOf(this.#last, device, timeMs) ? this.#last : this.#rowOf(line, device, timeMs)
    this.#last = row
    const first = row * valuesPerRow
    for (let index = 0; index < valuesPerRow; index++) {
      const value = values[index] as number
      if (!Number.isNaN(value)) this.#values[first + index] = value
    }
    return row
  }

  putCustom(row: number, series: number, value: number): void {
    this.#custom ??= new CustomRows()
    this.#custom.put(row, series, value)
  }

  /** Nothing can be added afterwards. */
  take(): Rows {
    this.#rows.count = this.#count
    this.#rows.custom = this.#custom?.take(this.#count)
    return this.#rows
  }

  #isOf(row: number, device: number, timeMs: number): boolean {
    return row < this.#count && this.#timesMs[row] === timeMs && this.#devices[row] === device
  }

  #rowOf(line: number, device: number, timeMs: number): number {
    if (this.#count === this.#capacity) this.#grow()
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = this.#hash(device, timeMs) & mask
    for (let found = slots[slot] as number; found !== 0; found = slots[slot] as number) {
      if (this.#isOf(found - 1, device, timeMs)) return found - 1
      slot = (slot + 1) & mask
    }
    const row = this.#count++
    slots[slot] = row + 1
    this.#rows.lines[row] = line
    this.#devices[row] = device
    this.#timesMs[row] = timeMs
    const first = row * valuesPerRow
    for (let index = 0; index < valuesPerRow; index++) this.#values[first + index] = Number.NaN
    return row
  }

  #grow(): void {
    const old = this.#rows
    this.#capacity *= 2
    this.#rows = createRows(this.#capacity, valuesPerRow)
    this.#devices = this.#rows.names
    this.#timesMs = this.#rows.timesMs
    this.#values = this.#rows.values
    this.#rows.lines.set(old.lines)
    this.#devices.set(old.names)
    this.#timesMs.set(old.timesMs)
    this.#values.set(old.values)
    this.#slots = new Int32Array(2 * this.#capacity)
    const mask = this.#slots.length - 1
    for (let row = 0; row < this.#count; row++) {
      let slot = this.#hash(this.#devices[row] as number, this.#timesMs[row] as number) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = row + 1
    }
  }
}

/** Hashes a device's number and a time. A sender cannot choose times that all collide. */
export function createRowHash(): (device: number, timeMs: number) => number {
  const timeFactor = oddNumber()
  const deviceFactor = oddNumber()
  return (device, timeMs) => {
    const timeUs = Math.round(timeMs * 1000)
    const high = Math.floor(timeUs / 2 ** 31)
    const time = Math.imul((timeUs - high * 2 ** 31) ^ Math.imul(high, deviceFactor), timeFactor)
    const mixed = Math.imul(time ^ (time >>> 15) ^ Math.imul(device, deviceFactor), 0x85eb_ca6b)
    return mixed ^ (mixed >>> 13)
  }
}

function oddNumber(): number {
  return randomInt(2 ** 32) | 1
}
