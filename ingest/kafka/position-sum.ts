/**
 * Positions of several topics as one number: their sum, of moments that were looked at. Such a moment has passed when each topic
 * has passed its position of then.
 */

/** Beyond it every other moment is forgotten, and what waits for one waits for the next. */
const momentsMax = 1024

export class PositionSum {
  /** Ascending in each topic. */
  #moments: (readonly number[])[] = []
  #newest: readonly number[]
  #passed = 0

  /** `ends`: of each topic. */
  constructor(ends: readonly number[]) {
    this.#newest = ends
    this.#moments.push(ends)
  }

  /** The number of a moment by which all topics end at these positions, or further on. */
  at(ends: readonly number[]): number {
    const before = this.#newest
    if (ends.some((end, topic) => end > (before[topic] as number))) {
      this.#newest = ends.map((end, topic) => Math.max(end, before[topic] as number))
      this.#moments.push(this.#newest)
      if (this.#moments.length > momentsMax) this.#moments = this.#moments.filter((_, at) => at % 2 === 0)
    }
    return sumOf(this.#newest)
  }

  /** The number of the last moment that has passed, by what each topic has passed; 0 before there is one. */
  passed(positions: readonly number[]): number {
    const isOpen = (moment: readonly number[]) => moment.some((end, topic) => end > (positions[topic] as number))
    const open = this.#moments.findIndex(isOpen)
    const passed = open === -1 ? this.#moments : this.#moments.slice(0, open)
    const last = passed.at(-1)
    if (last !== undefined) {
      this.#passed = Math.max(this.#passed, sumOf(last))
      this.#moments.splice(0, passed.length)
    }
    return this.#passed
  }
}

function sumOf(positions: readonly number[]): number {
  return positions.reduce((sum, position) => sum + position, 0)
}
