/**
 * Which offset of the topic each position of a spool stands for: what ends at the position was fetched from before that offset.
 * Not each group has an entry. The answer for a position between two is that of the first, so that a commit stays behind.
 */

import { bug } from '../../store/limits/bug.ts'

export class SpoolOffsets {
  /** Bytes between two entries, but for the last one. */
  readonly #apart: number
  /** Ascending; each is the end of a group. */
  #ends: number[]
  #nexts: number[]
  /** The last one stays, however close the next one is. */
  #isLastKept = false

  /** The spool begins at position 0 with what stands at `offset`. */
  constructor(offset: number, apart: number) {
    this.#apart = apart
    this.#ends = [0]
    this.#nexts = [offset]
  }

  /** What was fetched from before the offset ends at this position, which is known exactly until more is added. */
  add(end: number, next: number): void {
    const last = this.#ends.length - 1
    const lastEnd = this.#ends[last] as number
    if (end < lastEnd || next < (this.#nexts[last] as number)) {
      throw bug(
        `a spool that ends at ${lastEnd} and goes on with ${this.#nexts[last]} ends at ${end}, and goes on with ${next}`,
      )
    }
    const isClose = !this.#isLastKept && last > 0 && lastEnd - (this.#ends[last - 1] as number) < this.#apart
    const at = isClose || end === lastEnd ? last : last + 1
    this.#ends[at] = end
    this.#nexts[at] = next
    if (at > last) this.#isLastKept = false
  }

  /** The position of now stays known exactly. */
  keepLast(): void {
    this.#isLastKept = true
  }

  /** All that was fetched from before this offset ends at the position or before it. */
  at(position: number): number {
    return this.#nexts[this.#indexOf(position)] as number
  }

  /** The last known end of a group that is not behind the position. */
  endBefore(position: number): number {
    return this.#ends[this.#indexOf(position)] as number
  }

  /** Nobody asks for positions before this one any more. */
  forget(position: number): void {
    const index = this.#indexOf(position)
    this.#ends.splice(0, index)
    this.#nexts.splice(0, index)
  }

  #indexOf(position: number): number {
    let low = 0
    let high = this.#ends.length - 1
    if (position < (this.#ends[low] as number)) throw bug(`position ${position} of a spool is forgotten`)
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#ends[middle] as number) <= position) low = middle
      else high = middle - 1
    }
    return low
  }
}
