/**
 * Flat lines: stretches of three hours or more in which the largest and smallest reading differ by less than a limit. A
 * window slides over the readings with its maxima and minima in two queues, so each reading is looked at a few times
 * only.
 */

const flatMs = 3 * 3_600_000

/**
 * 1 for every reading of such a stretch. Readings (no NaN) are at ascending times; a time longer than `gapMs` between
 * two and a reading of `below` or more end a stretch.
 */
export function flatLines(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  below: number,
  gapMs: number,
): Uint8Array {
  const flat = new Uint8Array(values.length)
  const largest = new SlidingExtreme(values, 1)
  const smallest = new SlidingExtreme(values, -1)
  let start = 0
  for (let end = 0; end < values.length; end++) {
    const isOut = (values[end] as number) >= below
    if (isOut || (end > start && (timesMs[end] as number) - (timesMs[end - 1] as number) > gapMs)) {
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

  /** From the place `start` to the one pushed last. */
  value(start: number): number {
    while ((this.#queue[this.#head] as number) < start) this.#head++
    return this.#values[this.#queue[this.#head] as number] as number
  }
}
