/** The readings of one device of the last hours: columns that grow at the end and are cut at the begin. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import type { SuspectWindow } from '../core/suspect-share.ts'

const lengthMin = 64

export class RecentReadings {
  #timesMs = new Float64Array(lengthMin)
  #values: Float64Array<ArrayBuffer>[]
  #from = 0
  #end = 0

  constructor(columns: number) {
    this.#values = Array.from({ length: columns }, () => new Float64Array(lengthMin))
  }

  /** Not older than the last one. */
  add(timeMs: number, values: readonly Float64Array[], row: number): void {
    if (this.#end === this.#timesMs.length) this.#makeRoom()
    this.#timesMs[this.#end] = timeMs
    for (const [index, column] of this.#values.entries()) {
      column[this.#end] = values[index]?.[row] ?? Number.NaN
    }
    this.#end++
  }

  /** Those that are not older; others are forgotten. They are read before the next one is added. */
  since(fromMs: number): SuspectWindow {
    const present = this.#timesMs.subarray(this.#from, this.#end)
    this.#from += lowerBound(present, fromMs)
    return {
      timesMs: this.#timesMs.subarray(this.#from, this.#end),
      values: this.#values.map(column => column.subarray(this.#from, this.#end)),
    }
  }

  #makeRoom(): void {
    const length = Math.max(lengthMin, 2 * (this.#end - this.#from))
    const moved = (before: Float64Array) => {
      const after = new Float64Array(length)
      after.set(before.subarray(this.#from, this.#end))
      return after
    }
    this.#timesMs = moved(this.#timesMs)
    this.#values = this.#values.map(moved)
    this.#end -= this.#from
    this.#from = 0
  }
}
