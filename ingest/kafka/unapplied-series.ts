/**
 * Which series have rows in the topic that QuestDB does not show yet, and the revision of each series, which is raised when it
 * shows them. A slot of the revisions has the offsets of the first and of the last of its groups, so the memory is the same for
 * any backlog: 6 MB.
 */

import { revisionSlots } from '../forwarder/dirty-set.ts'

const none = Number.POSITIVE_INFINITY

export class UnappliedSeries {
  readonly #revisions = new Int32Array(revisionSlots)
  /** Added to each of them. */
  #allRevision = 0
  /** The offset of the first group with rows that may not show; `none` for a slot without any. */
  readonly #first = new Float64Array(revisionSlots).fill(none)
  readonly #last = new Float64Array(revisionSlots)
  /** The slots that have some. */
  readonly #slots = new Int32Array(revisionSlots)
  #count = 0
  #applied = 0
  /** Rows before this offset may be applied again, or for the first time, and are not in the slots. */
  #anyBefore = 0

  /** Raised whenever rows of the series became visible. Two series may share one. */
  revision(series: number): number {
    return (this.#revisions[series % revisionSlots] as number) + this.#allRevision
  }

  /** A row of the group at this offset, which is not before that of an earlier call. */
  add(offset: number, series: number): void {
    const slot = series % revisionSlots
    // It shows already: this process reads later than the forwarder.
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

  /** What stands before this offset was never seen here, or may be applied again: all series may get rows. */
  doubtBefore(offset: number): void {
    this.#anyBefore = Math.max(this.#anyBefore, offset)
    this.#allRevision++
  }

  /**
   * QuestDB shows all rows before this offset. `isAnew`: rows that it had shown may have gone, and come again one after the
   * other, older values first.
   */
  applied(offset: number, isAnew: boolean): void {
    if (isAnew || offset < this.#applied) this.doubtBefore(this.#applied)
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
      // Its next group is somewhere up to the last one: from here on, it may show with each advance.
      this.#first[slot] = applied
    }
    this.#slots[this.#count++] = slot
  }
}
