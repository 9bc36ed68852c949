/** The offsets of the topic at the positions of a spool. */

import { bug } from '../../../store/limits/bug.ts'

/** An entry has 16 bytes. A full segment of single readings has some 300,000 groups, so every eighth has an entry. */
const entriesMaxDefault = 65_536

/**
 * Maps positions of a spool to offsets of the topic: records up to the position were fetched from before that offset. A position
 * between two entries gets the offset of the first, so that a commit is never ahead. Each group has an entry as long as there is
 * room, since the reported lag is read from here.
 */
export class SpoolOffsets {
  readonly #entriesMax: number
  /** Ascending ends of groups. */
  #ends: number[]
  #nexts: number[]
  /** Groups from one entry to the next. It is doubled when the entries become too many, and halved when few are left. */
  #stride = 1
  /** Groups from the last entry but one to the last. */
  #groupsOfLast = 0

  /** The spool begins at position 0 with the topic's record at `offset`. */
  constructor(offset: number, entriesMax = entriesMaxDefault) {
    this.#entriesMax = entriesMax
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
    if (end === lastEnd) {
      this.#nexts[last] = next
      return
    }
    const isNew = last === 0 || this.#groupsOfLast >= this.#stride
    const at = isNew ? last + 1 : last
    this.#groupsOfLast = isNew ? 1 : this.#groupsOfLast + 1
    this.#ends[at] = end
    this.#nexts[at] = next
    if (at >= this.#entriesMax) this.#thin()
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
    if (this.#ends.length < this.#entriesMax / 4 && this.#stride > 1) this.#stride /= 2
  }

  #thin(): void {
    const last = this.#ends.length - 1
    const isKept = (_: number, index: number) => index % 2 === 0 || index === last
    this.#ends = this.#ends.filter(isKept)
    this.#nexts = this.#nexts.filter(isKept)
    this.#stride *= 2
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
