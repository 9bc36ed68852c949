/** Series of which the journal takes nothing any more: their records as bulk data, and their custom values. */

import { eraseCustom, offsetOf, withoutSeries } from './record.ts'

/** A piece of bulk data that was checked before its series was erased does not wait for as many later ones. */
const endedMax = 10_000

export class EndedSeries {
  /** Numbers as `erasedCustom` tells them; the oldest first. */
  readonly #numbers = new Set<number>()

  add(numbers: Iterable<number>): void {
    for (const number of numbers) this.#numbers.add(number)
    for (const number of this.#numbers) {
      if (this.#numbers.size <= endedMax) break
      this.#numbers.delete(number)
    }
  }

  /** Whole records without those of ended series; the very same bytes when there are none. */
  without(records: Uint8Array): Uint8Array {
    return this.#numbers.size === 0 ? records : withoutSeries(records, this.#numbers)
  }

  /** Of whole records. Their series may have been looked up before they ended. */
  eraseCustom(view: DataView, start: number, end: number): void {
    if (this.#numbers.size === 0) return
    const isEnded = (number: number) => this.#numbers.has(number)
    for (let offset = start; offset < end; offset += view.getUint16(offset + offsetOf.length, true)) {
      eraseCustom(view, offset, isEnded)
    }
  }
}
