/**
 * How often a device is expected to report, from its configuration or from the times of its readings, so that losses,
 * retries and jitter do not mislead: with 60 % of the readings lost the plain median of the intervals is twice too long.
 */

import { upperBound } from '../lower-bound.ts'
import { median, quantile } from '../summary/quantile.ts'
import { differences, thin } from './thinning.ts'

const dayMs = 86_400_000
/** Tried in this order: a short window follows a change of cadence within a day, a long one helps who reports rarely. */
const attempts = [
  { windowMs: dayMs, intervalsMin: 20 },
  { windowMs: 7 * dayMs, intervalsMin: 20 },
  { windowMs: 30 * dayMs, intervalsMin: 3 },
]
/** A gap is a silence of more than this many intervals. */
const gapIntervals = 2.5
/** The share of intervals that must be near a multiple of the shortest usual one. */
const regularityMin = 0.7

export interface Cadence {
  /** A configured device counts as regular: it says itself when it is due. */
  readonly kind: 'regular' | 'irregular' | 'unknown'
  /** E, the expected interval; null when it is not configured and there are too few readings. */
  readonly expectedMs: number | null
  readonly source: 'configured' | 'estimated' | 'default'
  /** The share of intervals within a quarter of a multiple of E (of the shortest usual interval when irregular). */
  readonly regularity: number | null
  /** G, the longest interval between two readings that is not a gap. */
  readonly gapMs: number | null
}

/** Of the readings' times, ascending, of which those of the last 30 days count. `configuredMs` null: not configured. */
export function cadenceOf(timesMs: Float64Array, configuredMs: number | null): Cadence {
  const intervals = recentIntervals(timesMs)
  if (configuredMs !== null) {
    const regularity = intervals === null ? null : regularityOf(intervals, configuredMs)
    const gapMs = gapIntervals * configuredMs
    return { kind: 'regular', expectedMs: configuredMs, source: 'configured', regularity, gapMs }
  }
  if (intervals === null) {
    return { kind: 'unknown', expectedMs: null, source: 'default', regularity: null, gapMs: null }
  }
  // The tenth percentile is an interval without a loss, even where most readings are lost.
  const shortMs = 1.5 * quantile(intervals, 0.1)
  const usualMs = median(intervals.filter(intervalMs => intervalMs <= shortMs))
  const regularity = regularityOf(intervals, usualMs)
  if (regularity >= regularityMin) {
    return { kind: 'regular', expectedMs: usualMs, source: 'estimated', regularity, gapMs: gapIntervals * usualMs }
  }
  // By the median, times of a Poisson process without any loss would show hundreds of gaps.
  const gapMs = gapIntervals * quantile(intervals, 0.99)
  return { kind: 'irregular', expectedMs: median(intervals), source: 'estimated', regularity, gapMs }
}

/** Intervals between the readings of the shortest window, ending at the last one, that has enough; retries left out. */
function recentIntervals(timesMs: Float64Array): Float64Array | null {
  const lastMs = timesMs.at(-1)
  if (lastMs === undefined) return null
  for (const { windowMs, intervalsMin } of attempts) {
    // The window's start is not in it: 24 h of hourly readings are 24, not 25.
    const distinct = thin(timesMs.subarray(upperBound(timesMs, lastMs - windowMs)), 0)
    const kept = thin(distinct, 0.1 * median(differences(distinct)))
    if (kept.length > intervalsMin) return differences(kept)
  }
  return null
}

function regularityOf(intervals: Float64Array, expectedMs: number): number {
  let near = 0
  for (let index = 0; index < intervals.length; index++) {
    const intervalMs = intervals[index] as number
    const multipleMs = Math.round(intervalMs / expectedMs) * expectedMs
    if (Math.abs(intervalMs - multipleMs) <= 0.25 * expectedMs) near++
  }
  return near / intervals.length
}
