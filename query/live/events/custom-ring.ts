/** Values without a column of the readings in the ring, in a separate ring. */

import type { StoredCustom } from '../latest-values.ts'

/** Average number of values of a reading. With more, fewer readings are kept. */
const valuesPerRow = 4
const valueBytes = 4 + 8
/** Bytes for each reading of the ring. */
export const customRowBytes = 8 + valuesPerRow * valueBytes
/** The most values of one reading. */
const valuesMin = 64

export class CustomRing {
  /** Index of each reading's first value, counted from the first value of all. */
  readonly #starts: Float64Array
  readonly #series: Uint32Array
  readonly #values: Float64Array
  /** Readings before this number have no values here. */
  readonly #firstNumber: number
  #head = 0
  #nextNumber: number

  constructor(rowsMax: number, firstNumber: number) {
    const valuesMax = Math.max(valuesMin, rowsMax * valuesPerRow)
    this.#starts = new Float64Array(rowsMax)
    this.#series = new Uint32Array(valuesMax)
    this.#values = new Float64Array(valuesMax)
    this.#firstNumber = firstNumber
    this.#nextNumber = firstNumber
  }

  append(number: number, readings: StoredCustom): void {
    this.#starts[number % this.#starts.length] = this.#head
    for (let place = 0; place < readings.customCount; place++, this.#head++) {
      const at = this.#head % this.#values.length
      this.#series[at] = readings.customSeries(place)
      this.#values[at] = readings.customValue(place)
    }
    this.#nextNumber = number + 1
  }

  /** Values of this reading have been overwritten. */
  isLost(number: number): boolean {
    if (number < this.#firstNumber || number >= this.#nextNumber) return false
    return this.#start(number) < this.#head - this.#values.length
  }

  each(number: number, take: (series: number, value: number) => void): void {
    if (number < this.#firstNumber || number >= this.#nextNumber) return
    const end = number + 1 < this.#nextNumber ? this.#start(number + 1) : this.#head
    for (let place = this.#start(number); place < end; place++) {
      const at = place % this.#values.length
      take(this.#series[at] as number, this.#values[at] as number)
    }
  }

  #start(number: number): number {
    return this.#starts[number % this.#starts.length] as number
  }
}
