/**
 * Maps positions of a spool to offsets of the topic: records up to the position were fetched from before that offset. Not each
 * group has an entry. A position between two entries gets the offset of the first, so that a commit is never ahead.
 */

import { bug } from '../../store/limits/bug.ts'

export class SpoolOffsets {
  /** Bytes between two entries, except before the last one. */
  readonly #apart: number
  /** Ascending ends of groups. */
  #ends: number[]
  #nexts: number[]
  /** True when the last entry stays, even if the next one is close. */
  #isLastKept = false

  /** The spool begins at position 0 with the topic's record at `offset`. */
  constructor(offset: number, apart: number) {
    this.#apart = apart
    this.#ends = [0]
    this.#nexts = [offset]
  }

  /** Records before the offset end at this position, which is known exactly until more is added. */
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

  /** Keeps the exact offset of the current position. */
  keepLast(): void {
    this.#isLastKept = true
  }

  /** All records fetched from before this offset end at or before the position. */
  at(position: number): number {
    return this.#nexts[this.#indexOf(position)] as number
  }

  /** The last known end of a group that is not after the position. */
  endBefore(position: number): number {
    return this.#ends[this.#indexOf(position)] as number
  }

  /** Drops entries before this position, which is not queried any more. */
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
