/** The greatest intensity: the largest sum of a quantity over any window of a length, as the most rain in 60 minutes. */

import { CompensatedSum, compensatedSum } from '../compensated-sum.ts'
import { presentOf, type Samples } from '../present.ts'

/** `(start_ms, end_ms]`, which ends with a sample. */
interface GreatestSum {
  /** In the quantity's unit. */
  readonly sum: number
  readonly start_ms: number
  readonly end_ms: number
  /** Samples in the window: where some are missing there may have been more. */
  readonly count: number
}

/**
 * Of samples at ascending times, NaN being missing; the earliest of equal ones. A sample counts whole for the windows that
 * hold its time. Null without a sample; throws a RangeError when the window has no length.
 */
export function greatestSum(samples: Samples, windowMs: number): GreatestSum | null {
  if (!(windowMs > 0)) throw new RangeError(`a window of ${windowMs} ms`)
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
  // Summed anew: the running sum has seen all samples before.
  const sum = compensatedSum(values, best.from, best.to)
  return { sum, start_ms: end_ms - windowMs, end_ms, count: best.to - best.from }
}
