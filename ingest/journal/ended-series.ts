/** Series that the journal rejects: their records as bulk data, and their custom values. */

import { eraseCustom, offsetOf, withoutSeries } from './record.ts'

/** Bulk data checked before the erasure of its series is appended before this many later erasures. */
const endedMax = 10_000

export class EndedSeries {
  /** As `erasedCustom` numbers, the oldest first. */
  readonly #numbers = new Set<number>()

  add(numbers: Iterable<number>): void {
    for (const number of numbers) this.#numbers.add(number)
    for (const number of this.#numbers) {
      if (this.#numbers.size <= endedMax) break
      this.#numbers.delete(number)
    }
  }

  /** Returns whole records without ended series, or the same array when it has none. */
  without(records: Uint8Array): Uint8Array {
    return this.#numbers.size === 0 ? records : withoutSeries(records, this.#numbers)
  }

  /** For whole records. Their series may have been resolved before they ended. */
  eraseCustom(view: DataView, start: number, end: number): void {
    if (this.#numbers.size === 0) return
    const isEnded = (number: number) => this.#numbers.has(number)
    for (let offset = start; offset < end; offset += view.getUint16(offset + offsetOf.length, true)) {
      eraseCustom(view, offset, isEnded)
    }
  }
}
