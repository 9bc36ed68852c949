/** How evenly a device reports. */

import type { Cadence } from './cadence.ts'
import { median, quantile } from './quantile.ts'
import { differences } from './thinning.ts'

export interface Jitter {
  /** 1.4826 times the median distance of the intervals from their median: the standard deviation, were they normal. */
  readonly jitter_seconds: number | null
  /** The 95 % quantile of the intervals' distances from the expected one. */
  readonly jitter_p95_seconds: number | null
}

/** Makes the median absolute deviation of a normal distribution its standard deviation. */
const normalPerMad = 1.4826

/** Of the intervals between thinned times that are no gaps; null without any. */
export function jitterOf(thinnedMs: Float64Array, { expectedMs, gapMs }: Cadence): Jitter {
  const intervals = differences(thinnedMs).filter(intervalMs => intervalMs <= (gapMs ?? 0))
  if (expectedMs === null || intervals.length === 0) return { jitter_seconds: null, jitter_p95_seconds: null }
  const usualMs = median(intervals)
  return {
    jitter_seconds: (normalPerMad * median(intervals.map(intervalMs => Math.abs(intervalMs - usualMs)))) / 1000,
    jitter_p95_seconds:
      quantile(
        intervals.map(intervalMs => Math.abs(intervalMs - expectedMs)),
        0.95,
      ) / 1000,
  }
}
