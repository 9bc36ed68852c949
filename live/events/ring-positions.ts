/**
 * Where the readings of a ring stand in their journals, which other processes read too. There the readings of one journal come in the
 * same order, and between them those of the others as it happens. So a place in the ring is a position in each journal.
 */

import { bug } from '../../limits/bug.ts'
import type { Positions } from './event-cursor.ts'

/** Of a reading. */
export const positionBytes = 8 + 1
/** Readings from one mark to the next: to find a place, one is found among the marks, and then so many readings are looked at. */
const markEvery = 128

export class RingPositions {
  readonly #next: () => Positions
  /** As many as are kept, and those between the oldest one of them and the mark before it. */
  readonly #rowsMax: number
  readonly #positions: Float64Array
  readonly #journals: Uint8Array
  /** Of each journal the position behind its last reading before the mark. */
  readonly #marks: Float64Array
  readonly #marksMax: number
  /** The position behind the last reading of each journal. */
  readonly #behind: number[]
  /** Readings from this number on were appended without a gap, each at or behind these positions. */
  #begin: { readonly number: number; readonly positions: Positions }

  /** `next`: all readings before these positions have been appended that ever are. */
  constructor(rowsMax: number, next: () => Positions, begin = { number: 0, positions: next() }) {
    this.#next = next
    this.#rowsMax = rowsMax + markEvery
    this.#positions = new Float64Array(this.#rowsMax)
    this.#journals = new Uint8Array(this.#rowsMax)
    this.#marksMax = Math.ceil(this.#rowsMax / markEvery) + 1
    this.#marks = new Float64Array(this.#marksMax * begin.positions.length)
    this.#behind = [...begin.positions]
    this.#begin = begin
  }

  /** Of the next reading. */
  append(number: number, journal: number, position: number): void {
    const behind = this.#behind[journal]
    if (behind === undefined || !(position >= behind)) {
      throw bug(`a reading at ${position} of journal ${journal} comes when its next one is at ${behind}`)
    }
    if (number % markEvery === 0) this.#marks.set(this.#behind, this.#markAt(number / markEvery))
    const row = number % this.#rowsMax
    this.#positions[row] = position
    this.#journals[row] = journal
    this.#behind[journal] = position + 1
  }

  /** Readings before this number are not asked for any more, and some before it may be missing. */
  beginAt(number: number): void {
    this.#begin = { number, positions: this.#next() }
    for (const [journal, position] of this.#begin.positions.entries()) this.#behind[journal] = position
  }

  /** The readings from `tail` on, in as much room. */
  resized(rowsMax: number, tail: number, head: number): RingPositions {
    const resized = new RingPositions(rowsMax, this.#next, { number: tail, positions: this.#before(tail, head) })
    for (let number = tail; number < head; number++) {
      resized.append(number, this.#journal(number), this.#position(number))
    }
    return resized
  }

  /** Readings before this number, which is kept or the next one, stand before these positions, and the others do not. */
  at(number: number, head: number): Positions {
    return number === head ? this.#next() : this.#before(number, head)
  }

  /**
   * The number of the first reading that stands at or behind its position; undefined when one of them is not kept, `ahead` when there may
   * be some before the positions that were not appended yet.
   */
  find(positions: Positions, tail: number, head: number): number | 'ahead' | undefined {
    const oldest = this.#before(tail, head)
    if (positions.some((position, journal) => position < (oldest[journal] as number))) return undefined
    const next = this.#next()
    if (positions.some((position, journal) => position > (next[journal] as number))) return 'ahead'
    return Math.min(...positions.map((position, journal) => this.#firstOf(journal, position, tail, head)))
  }

  isBefore(number: number, positions: Positions): boolean {
    return this.#position(number) < (positions[this.#journal(number)] as number)
  }

  /** The first reading of the journal at or behind the position; `head` when there is none. */
  #firstOf(journal: number, position: number, tail: number, head: number): number {
    let [low, high] = [Math.ceil(tail / markEvery), Math.ceil(head / markEvery)]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((this.#marks[this.#markAt(middle) + journal] as number) > position) high = middle
      else low = middle + 1
    }
    for (let number = Math.max(tail, (low - 1) * markEvery); number < head; number++) {
      if (this.#journal(number) === journal && this.#position(number) >= position) return number
    }
    return head
  }

  /** By the last mark up to it. */
  #before(number: number, head: number): Positions {
    if (number === this.#begin.number) return this.#begin.positions
    if (number === head) return [...this.#behind]
    const mark = Math.floor(number / markEvery)
    const isMarked = mark * markEvery > this.#begin.number
    const at = this.#markAt(mark)
    const positions = isMarked
      ? Array.from(this.#marks.subarray(at, at + this.#behind.length))
      : [...this.#begin.positions]
    const from = isMarked ? mark * markEvery : this.#begin.number
    for (let before = from; before < number; before++) positions[this.#journal(before)] = this.#position(before) + 1
    return positions
  }

  #markAt(mark: number): number {
    return (mark % this.#marksMax) * this.#behind.length
  }

  #position(number: number): number {
    return this.#positions[number % this.#rowsMax] as number
  }

  #journal(number: number): number {
    return this.#journals[number % this.#rowsMax] as number
  }
}
