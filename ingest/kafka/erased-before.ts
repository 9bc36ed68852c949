/** Which series of a topic are erased, and before which offset: the tombstones of a topic, as far as a process knows them. */

const none: ReadonlySet<number> = new Set()

export class ErasedBefore {
  /** By the number of the series, further ones as `erasedFurther` tells them. */
  readonly #offsets = new Map<number, number>()
  /** Those that are erased at the offset that was asked for last, and up to which offset they are the same ones. */
  #erased = none
  #from = 0
  #until = 0

  add(series: readonly number[], before: number): void {
    for (const number of series) this.#offsets.set(number, Math.max(before, this.#offsets.get(number) ?? 0))
    this.#until = this.#from
  }

  /** The series of which the records at this offset are erased. */
  at(offset: number): ReadonlySet<number> {
    if (offset < this.#from || offset >= this.#until) this.#find(offset)
    return this.#erased
  }

  #find(offset: number): void {
    const erased = new Set<number>()
    let until = Number.POSITIVE_INFINITY
    for (const [number, before] of this.#offsets) {
      if (offset >= before) continue
      erased.add(number)
      until = Math.min(until, before)
    }
    this.#erased = erased
    this.#from = offset
    this.#until = until
  }
}
