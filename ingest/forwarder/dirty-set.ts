/** A set of the series with new rows, filled row by row and emptied at once. */

/** Number of revisions. Two series with the same slot only invalidate each other's cached answers. */
export const revisionSlots = 2 ** 18

export class DirtySet {
  readonly #isDirty = new Uint8Array(revisionSlots)
  readonly #slots = new Int32Array(revisionSlots)
  #count = 0

  add(seriesNumber: number): void {
    const slot = seriesNumber % revisionSlots
    if (this.#isDirty[slot] === 1) return
    this.#isDirty[slot] = 1
    this.#slots[this.#count++] = slot
  }

  /** Raises the revision of every series in the set and empties it. */
  bump(revisions: Int32Array): void {
    for (let index = 0; index < this.#count; index++) {
      const slot = this.#slots[index] as number
      Atomics.add(revisions, slot, 1)
      this.#isDirty[slot] = 0
    }
    this.#count = 0
  }
}
