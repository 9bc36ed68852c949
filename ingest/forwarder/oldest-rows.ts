/**
 * The oldest row of each range of a sequence, of transactions or of offsets: how old the rows behind some place of it are at most,
 * in bounded memory.
 */

import { bug } from '../../store/limits/bug.ts'

interface Range {
  /** Its last transaction, or offset. */
  end: number
  oldestUs: number
  /** How many ranges were merged into this one. */
  merged: number
}

/** Beyond this many, neighbours are merged. */
const rangesMax = 64

export class OldestRows {
  /** Ascending, each merged from about as many: a large one would never be passed as a whole. */
  #ranges: Range[] = []
  #mergedMax = 1

  /** Rows that stand behind those that were added before, up to `end`. */
  add(end: number, oldestUs: number): void {
    this.#add({ end, oldestUs, merged: 1 })
  }

  /** Not above the time of any row behind `end`; Infinity when there is none. */
  oldestBehind(end: number): number {
    let oldestUs = Number.POSITIVE_INFINITY
    for (const range of this.#ranges) if (range.end > end) oldestUs = Math.min(oldestUs, range.oldestUs)
    return oldestUs
  }

  /** Nobody asks for rows up to here any more. */
  forgetUpTo(end: number): void {
    this.#ranges = this.#ranges.filter(range => range.end > end)
    // What comes is told apart better, once what was merged is gone.
    if (this.#ranges.length < rangesMax / 4) this.#mergedMax = Math.max(1, Math.floor(this.#mergedMax / 2))
  }

  clear(): void {
    this.#ranges = []
  }

  #add(range: Range): void {
    const last = this.#ranges.at(-1)
    if (last !== undefined && range.end < last.end)
      throw bug(`rows up to ${range.end} come behind those up to ${last.end}`)
    if (last !== undefined && last.merged < this.#mergedMax) this.#ranges.splice(-1, 1, merge(last, range))
    else this.#ranges.push(range)
    if (this.#ranges.length <= rangesMax) return
    this.#mergedMax *= 2
    const ranges = this.#ranges
    this.#ranges = []
    for (const each of ranges) this.#add(each)
  }
}

/** Of two neighbours the later end and the older row, so that nothing is taken for newer than it is. */
function merge(range: Range, next: Range): Range {
  return {
    end: next.end,
    oldestUs: Math.min(range.oldestUs, next.oldestUs),
    merged: range.merged + next.merged,
  }
}
