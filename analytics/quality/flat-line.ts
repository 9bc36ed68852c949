/**
 * Flat lines: stretches of some hours or more in which the largest and smallest reading differ by less than a limit. A
 * window slides over the readings with its maxima and minima in two queues, so each reading is visited only a few
 * times.
 */

import type { FlatWithin } from './quality-limits.ts'

/**
 * 1 for every reading of such a stretch. Readings (no NaN) are at ascending times; a gap before a reading and a reading
 * outside `within` end a stretch.
 */
export function flatLines(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  [above, below]: FlatWithin,
  isGapBefore: Uint8Array,
  flatMs: number,
): Uint8Array {
  const flat = new Uint8Array(values.length)
  if (!mayBeFlat(timesMs, values, limit, isGapBefore, flatMs)) return flat
  const largest = new SlidingExtreme(values, 1)
  const smallest = new SlidingExtreme(values, -1)
  let start = 0
  for (let end = 0; end < values.length; end++) {
    const isOut = !((values[end] as number) > above && (values[end] as number) < below)
    if (isOut || isGapBefore[end] === 1) {
      start = isOut ? end + 1 : end
      largest.clear()
      smallest.clear()
    }
    if (isOut) continue
    largest.push(end)
    smallest.push(end)
    while (largest.value(start) - smallest.value(start) >= limit) start++
    if ((timesMs[end] as number) - (timesMs[start] as number) >= flatMs) markBack(flat, start, end)
  }
  return flat
}

/**
 * False when every two successive blocks together change enough, as with most sensors, after one pass over the
 * readings. Times more than a block apart without a gap, between which a block may be empty, are not examined.
 */
export function mayBeFlat(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  isGapBefore: Uint8Array,
  flatMs: number,
): boolean {
  // Two whole blocks of the clock lie in every flat line.
  const blockMs = flatMs / 3
  let [blockBefore, minBefore, maxBefore] = [Number.NaN, Number.NaN, Number.NaN]
  let index = 0
  while (index < values.length) {
    // Before the first reading this is NaN, which is neither more nor less than anything.
    const sinceMs = (timesMs[index] as number) - (timesMs[index - 1] as number)
    if (sinceMs > blockMs && isGapBefore[index] === 0) return true
    const block = Math.floor((timesMs[index] as number) / blockMs)
    const endMs = (block + 1) * blockMs
    let min = values[index] as number
    let max = min
    for (index++; (timesMs[index] as number) < endMs; index++) {
      const value = values[index] as number
      if (value < min) min = value
      if (value > max) max = value
    }
    if (block === blockBefore + 1 && Math.max(max, maxBefore) - Math.min(min, minBefore) < limit) return true
    blockBefore = block
    minBefore = min
    maxBefore = max
  }
  return false
}

/** A start never moves back, so everything before a marked reading of this stretch is marked already. */
function markBack(flat: Uint8Array, start: number, end: number): void {
  for (let index = end; index >= start && flat[index] === 0; index--) flat[index] = 1
}

/** The largest (sign 1) or smallest (sign −1) value of a window whose both ends only move forward. */
class SlidingExtreme {
  readonly #values: Float64Array
  readonly #sign: number
  readonly #queue: Uint32Array
  #head = 0
  #tail = 0

  constructor(values: Float64Array, sign: 1 | -1) {
    this.#values = values
    this.#sign = sign
    this.#queue = new Uint32Array(values.length)
  }

  clear(): void {
    this.#head = 0
    this.#tail = 0
  }

  push(index: number): void {
    const value = (this.#values[index] as number) * this.#sign
    while (this.#tail > this.#head) {
      const last = this.#queue[this.#tail - 1] as number
      if ((this.#values[last] as number) * this.#sign > value) break
      this.#tail--
    }
    this.#queue[this.#tail++] = index
  }

  /** Covers the indexes from `start` to the last one pushed. */
  value(start: number): number {
    while ((this.#queue[this.#head] as number) < start) this.#head++
    return this.#values[this.#queue[this.#head] as number] as number
  }
}
