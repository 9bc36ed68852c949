/**
 * The series with rows in the topic that QuestDB does not show yet, and a revision of each series, which is raised when they
 * become visible. A slot of the revisions has the offsets of the first and the last of its groups, so the memory is constant for
 * any backlog: 6 MB.
 */

import { revisionSlots } from '../forwarder/dirty-set.ts'

const none = Number.POSITIVE_INFINITY

export class UnappliedSeries {
  readonly #revisions = new Int32Array(revisionSlots)
  /** Added to each of them. */
  #allRevision = 0
  /** Offset of the first group with rows that may not be visible; `none` for a slot without any. */
  readonly #first = new Float64Array(revisionSlots).fill(none)
  readonly #last = new Float64Array(revisionSlots)
  /** The slots with such rows. */
  readonly #slots = new Int32Array(revisionSlots)
  #count = 0
  #applied = 0
  /** Rows before this offset may be applied again, or for the first time, and are not in the slots. */
  #anyBefore = 0

  /** Raised whenever rows of the series became visible. Two series may share a revision. */
  revision(series: number): number {
    return (this.#revisions[series % revisionSlots] as number) + this.#allRevision
  }

  /** A row of the group at this offset. Offsets of calls never decrease. */
  add(offset: number, series: number): void {
    const slot = series % revisionSlots
    // The row is visible already: this process reads later than the forwarder.
    if (offset < this.#applied) {
      this.#revisions[slot] = (this.#revisions[slot] as number) + 1
      return
    }
    if (this.#first[slot] === none) {
      this.#first[slot] = offset
      this.#slots[this.#count++] = slot
    }
    this.#last[slot] = offset
  }

  /** Records before this offset were not read here, or may be applied again: all series may get rows. */
  doubtBefore(offset: number): void {
    this.#anyBefore = Math.max(this.#anyBefore, offset)
    this.#allRevision++
  }

  /**
   * QuestDB shows all rows before this offset. `isRepeated`: visible rows may have disappeared, and return one after the other, older
   * values first.
   */
  applied(offset: number, isRepeated: boolean): void {
    if (isRepeated || offset < this.#applied) this.doubtBefore(this.#applied)
    else if (offset > this.#applied && this.#applied < this.#anyBefore) this.#allRevision++
    this.#applied = offset
    const count = this.#count
    this.#count = 0
    for (let index = 0; index < count; index++) this.#advance(this.#slots[index] as number, offset)
  }

  #advance(slot: number, applied: number): void {
    if ((this.#first[slot] as number) < applied) {
      this.#revisions[slot] = (this.#revisions[slot] as number) + 1
      if ((this.#last[slot] as number) < applied) {
        this.#first[slot] = none
        return
      }
      // Its next group is at most at the last offset: from here on, each advance may make it visible.
      this.#first[slot] = applied
    }
    this.#slots[this.#count++] = slot
  }
}
