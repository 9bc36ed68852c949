/**
 * The greatest intensity: the largest sum of a quantity over any window of a length, such as the most rain in 60
 * minutes.
 */

import { CompensatedSum, compensatedSum } from '../compensated-sum.ts'
import { presentOf, type Samples } from '../present.ts'

/** `(start_ms, end_ms]`, ending with a sample. */
interface GreatestSum {
  /** In the quantity's unit. */
  readonly sum: number
  readonly start_ms: number
  readonly end_ms: number
  /** Samples in the window; where some are missing, the true sum may be larger. */
  readonly count: number
}

/**
 * Samples have ascending times, with NaN for missing ones; the earliest of equal sums counts. Every window that
 * contains a sample's time includes all of it. Null without a sample; throws a RangeError for a window without a
 * length.
 */
export function greatestSum(samples: Samples, windowMs: number): GreatestSum | null {
  if (!(windowMs > 0)) throw new RangeError(`invalid window length ${windowMs} ms`)
  const { timesMs, values } = presentOf(samples.timesMs, samples.values)
  const running = new CompensatedSum()
  let from = 0
  let best = { sum: Number.NEGATIVE_INFINITY, from: 0, to: 0 }
  for (let index = 0; index < timesMs.length; index++) {
    running.add(values[index] as number)
    while ((timesMs[from] as number) <= (timesMs[index] as number) - windowMs) running.add(-(values[from++] as number))
    if (running.total > best.sum) best = { sum: running.total, from, to: index + 1 }
  }
  if (best.to === 0) return null
  const end_ms = timesMs[best.to - 1] as number
  // Summed again: the running sum has the rounding of all samples before.
  const sum = compensatedSum(values, best.from, best.to)
  return { sum, start_ms: end_ms - windowMs, end_ms, count: best.to - best.from }
}
