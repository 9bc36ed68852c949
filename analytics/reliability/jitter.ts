/** The evenness of a device's reports. */

import { lowerBound } from '../lower-bound.ts'
import { quantilesInPlace } from '../summary/quantile.ts'
import type { Cadence } from './cadence.ts'

export interface Jitter {
  /**
   * 1.4826 times the median distance of the intervals from their median: their standard deviation, if they are normal.
   */
  readonly jitter_seconds: number | null
  /** The 95 % quantile of the intervals' distances from the expected one. */
  readonly jitter_p95_seconds: number | null
}

/** Converts the median absolute deviation of a normal distribution into its standard deviation. */
const normalPerMad = 1.4826

/**
 * Uses the intervals between thinned times that are not gaps, since the present interval began; null without any, and
 * for an irregular device.
 */
export function jitterOf(thinnedMs: Float64Array, { kind, expectedMs, gapMs, stretches }: Cadence): Jitter {
  const since = lowerBound(thinnedMs, stretches.at(-1)?.fromMs ?? 0)
  const intervals = intervalsUpTo(gapMs ?? 0, thinnedMs.subarray(since))
  if (kind !== 'regular' || expectedMs === null || intervals.length === 0)
    return { jitter_seconds: null, jitter_p95_seconds: null }
  const fromExpected = quantileInPlace(distances(intervals, expectedMs), 0.95)
  const usualMs = quantileInPlace(intervals, 0.5)
  const fromUsual = quantileInPlace(distances(intervals, usualMs, intervals), 0.5)
  return { jitter_seconds: (normalPerMad * fromUsual) / 1000, jitter_p95_seconds: fromExpected / 1000 }
}

function intervalsUpTo(longestMs: number, timesMs: Float64Array): Float64Array {
  const intervals = new Float64Array(timesMs.length)
  let count = 0
  for (let index = 1; index < timesMs.length; index++) {
    const intervalMs = (timesMs[index] as number) - (timesMs[index - 1] as number)
    if (intervalMs <= longestMs) intervals[count++] = intervalMs
  }
  return intervals.subarray(0, count)
}

function distances(
  values: Float64Array,
  from: number,
  result: Float64Array = new Float64Array(values.length),
): Float64Array {
  for (let index = 0; index < values.length; index++) result[index] = Math.abs((values[index] as number) - from)
  return result
}

function quantileInPlace(values: Float64Array, probability: number): number {
  return quantilesInPlace(values, [probability])[0] as number
}
