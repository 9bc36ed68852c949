/** Counts rows that replace an earlier one of a run, by their series number and time. */

import { createRowHash } from './merged-rows.ts'

const slotsMin = 1 << 10

/** The latest times in two generations: the older one is kept until the newer is full. */
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
