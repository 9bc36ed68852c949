/**
 * Rows with the same device and time: merged within a body of line protocol, and counted in other bodies, where the
 * later one replaces the earlier one.
 */

import { randomInt } from 'node:crypto'
import { readingRows } from './row-kinds.ts'
import { CustomRows, createRows, type Rows } from './rows.ts'

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
function createRowHash(): (device: number, timeMs: number) => number {
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

const slotsMin = 1 << 10

/**
 * Counts rows that replace an earlier one of a run. The latest times are in two generations: the older one is kept until the newer
 * is full.
 */
export class SeenRows {
  readonly #hash = createRowHash()
  readonly #rowsMax: number
  #rows = new Slots(slotsMin)
  #earlier: Slots | undefined

  /** Keeps at most twice as many, in 24 bytes each. */
  constructor(rowsMax = 1 << 19) {
    this.#rowsMax = rowsMax
  }

  /** Adds the row. Returns true when it was there before. */
  add(series: number, timeUs: number): boolean {
    const hash = this.#hash(series, timeUs / 1000)
    if (!this.#rows.add(series, timeUs, hash)) return true
    const isThere = this.#earlier?.has(series, timeUs, hash) === true
    if (this.#rows.count === this.#rowsMax) {
      this.#earlier = this.#rows
      this.#rows = new Slots(slotsMin)
    } else if (this.#rows.isFull()) {
      this.#rows = this.#grown(this.#rows)
    }
    return isThere
  }

  #grown(rows: Slots): Slots {
    const grown = new Slots(2 * rows.series.length)
    for (let slot = 0; slot < rows.series.length; slot++) {
      const series = rows.series[slot] as number
      if (series === 0) continue
      const timeUs = rows.timesUs[slot] as number
      grown.add(series - 1, timeUs, this.#hash(series - 1, timeUs / 1000))
    }
    return grown
  }
}

/** An open hash table. At most half of the slots are used. */
class Slots {
  /** The number plus one; 0 for a free slot. */
  readonly series: Uint32Array
  readonly timesUs: Float64Array
  count = 0

  constructor(length: number) {
    this.series = new Uint32Array(length)
    this.timesUs = new Float64Array(length)
  }

  isFull(): boolean {
    return 2 * this.count >= this.series.length
  }

  has(series: number, timeUs: number, hash: number): boolean {
    return this.series[this.#slotOf(series, timeUs, hash)] !== 0
  }

  /** Returns false for an existing entry. */
  add(series: number, timeUs: number, hash: number): boolean {
    const slot = this.#slotOf(series, timeUs, hash)
    if (this.series[slot] !== 0) return false
    this.series[slot] = series + 1
    this.timesUs[slot] = timeUs
    this.count++
    return true
  }

  #slotOf(series: number, timeUs: number, hash: number): number {
    const mask = this.series.length - 1
    let slot = hash & mask
    while (this.series[slot] !== 0 && !(this.series[slot] === series + 1 && this.timesUs[slot] === timeUs)) {
      slot = (slot + 1) & mask
    }
    return slot
  }
}
