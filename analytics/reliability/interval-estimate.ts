/**
 * The expected interval of a device from the times of its readings, robust against losses, retries and jitter: with 60
 * % of the readings lost the plain median of the intervals is twice too long.
 */

import { upperBound } from '../lower-bound.ts'
import { median, quantile } from '../summary/quantile.ts'

const dayMs = 86_400_000
/** Tried in this order: a short window follows the device within a day, a long one suits rare readings. */
const attempts = [
  { windowMs: dayMs, intervalsMin: 20 },
  { windowMs: 7 * dayMs, intervalsMin: 20 },
  { windowMs: 30 * dayMs, intervalsMin: 3 },
]
/** A gap of a regular device is an interval of more than this many expected ones. */
export const gapIntervals = 2.5
/** The share of intervals that must be near a multiple of the shortest usual one. */
export const regularityMin = 0.7
/** This many intervals suffice to distinguish regular from irregular devices. */
const manyIntervals = 100
/** An interval within this share of the expected one from a multiple is near it. */
const nearShare = 0.25
/** Longer intervals are near a multiple of anything. */
const multiplesMax = 10

export interface IntervalEstimate {
  readonly kind: 'regular' | 'irregular'
  /** E: the shortest usual interval; for an irregular device the median. */
  readonly expectedMs: number
  /** The share of intervals near a multiple of the shortest usual one. */
  readonly regularity: number
}

/** Takes ascending times and uses the last 24 hours if they suffice, else 7 or 30 days; null with too few. */
export function estimateInterval(timesMs: Float64Array): IntervalEstimate | null {
  const intervals = recentIntervals(timesMs)
  if (intervals === null) return null
  const usualMs = usualInterval(intervals)
  const regularity = regularityOf(intervals, usualMs)
  const isRegular =
    regularity >= regularityMin && (intervals.length >= manyIntervals || holdsForAWeek(timesMs, usualMs))
  return {
    kind: isRegular ? 'regular' : 'irregular',
    expectedMs: isRegular ? usualMs : median(intervals),
    regularity,
  }
}

/** The few random intervals of a day may be near multiples of one of them. A week's are not. */
function holdsForAWeek(timesMs: Float64Array, usualMs: number): boolean {
  return regularityOf(withoutRetries(lastOf(timesMs, 7 * dayMs)), usualMs) >= regularityMin
}

/** The share of intervals near a multiple of `expectedMs`; null without enough readings. */
export function measuredRegularity(timesMs: Float64Array, expectedMs: number): number | null {
  const intervals = recentIntervals(timesMs)
  return intervals === null ? null : regularityOf(intervals, expectedMs)
}

/** The tenth percentile is an interval without a loss, even where most readings are lost. */
export function usualInterval(intervals: Float64Array): number {
  const shortMs = 1.5 * quantile(intervals, 0.1)
  return median(intervals.filter(intervalMs => intervalMs <= shortMs))
}

/** Share of intervals near multiples of one interval by which defrosts and similar cycles are recognized. */
const recurringMin = 0.8
/** The unit is usual intervals. */
const recurringOff = 0.1

/** True for events that come back at the same intervals, some left out. Takes ascending times. */
export function recurs(timesMs: readonly number[]): boolean {
  const intervals = differences(Float64Array.from(timesMs))
  const usualMs = usualInterval(intervals)
  const near = intervals.filter(intervalMs => {
    const multiple = intervalMs / usualMs
    return Math.abs(multiple - Math.round(multiple)) <= recurringOff
  })
  return near.length >= recurringMin * intervals.length
}

/** The share of intervals near a multiple of `expectedMs`, up to ten times. */
export function regularityOf(intervals: Float64Array, expectedMs: number): number {
  let near = 0
  for (let index = 0; index < intervals.length; index++) {
    const intervalMs = intervals[index] as number
    const multipleMs = Math.round(intervalMs / expectedMs) * expectedMs
    if (multipleMs > multiplesMax * expectedMs) continue
    if (Math.abs(intervalMs - multipleMs) <= nearShare * expectedMs) near++
  }
  return near / intervals.length
}

/** Intervals between distinct times without retries, which are closer than a tenth of the median to the time before. */
export function withoutRetries(timesMs: Float64Array): Float64Array {
  const distinct = thin(timesMs, 0)
  return differences(thin(distinct, 0.1 * median(differences(distinct))))
}

/** Intervals of the shortest sufficient window that ends at the last reading. */
function recentIntervals(timesMs: Float64Array): Float64Array | null {
  for (const { windowMs, intervalsMin } of attempts) {
    const intervals = withoutRetries(lastOf(timesMs, windowMs))
    if (intervals.length >= intervalsMin) return intervals
  }
  return null
}

/** The window's start is not in it: 24 h of hourly readings are 24, not 25. */
export function lastOf(timesMs: Float64Array, windowMs: number): Float64Array {
  return timesMs.subarray(upperBound(timesMs, (timesMs.at(-1) ?? 0) - windowMs))
}

/** Removes retries and bursts from a list of times, so that they cannot look like a faster cadence or hide a loss. */

/**
 * Keeps the first time, then each that comes at least `distanceMs` after the last kept one; equal times are always kept
 * once. Times ascend. When none is dropped, the result is the same array.
 */
export function thin(timesMs: Float64Array, distanceMs: number): Float64Array {
  if (areApart(timesMs, distanceMs)) return timesMs
  const kept = new Float64Array(timesMs.length)
  let count = 0
  let last = Number.NEGATIVE_INFINITY
  for (let index = 0; index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    if (timeMs <= last || timeMs - last < distanceMs) continue
    kept[count++] = timeMs
    last = timeMs
  }
  return kept.subarray(0, count)
}

function areApart(timesMs: Float64Array, distanceMs: number): boolean {
  for (let index = 1; index < timesMs.length; index++) {
    const apartMs = (timesMs[index] as number) - (timesMs[index - 1] as number)
    if (apartMs <= 0 || apartMs < distanceMs) return false
  }
  return true
}

/** Differences from each time to the next, one fewer than there are times. */
export function differences(timesMs: Float64Array): Float64Array<ArrayBuffer> {
  const result = new Float64Array(Math.max(0, timesMs.length - 1))
  for (let index = 0; index < result.length; index++) {
    result[index] = (timesMs[index + 1] as number) - (timesMs[index] as number)
  }
  return result
}
