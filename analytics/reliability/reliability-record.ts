/**
 * A summary of a device's readings from which its reliability can be computed at any later moment, as long as no
 * reading comes: some kilobytes in place of all the times.
 */

import { lowerBound } from '../lower-bound.ts'
import { presentOf } from '../present.ts'
import { quantilesInPlace } from '../summary/quantile.ts'
import { type LocalDay, localDays } from '../time/local-days.ts'
import type { LocalTime } from '../time/local-time.ts'
import type { Cadence } from './cadence.ts'
import { type Arrivals, arrivalsOf, countBetween, coveredBetween } from './coverage.ts'
import { downtimeMs, findGaps, type Gap } from './gaps.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
export const windowsMs = { '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs }
export type WindowName = keyof typeof windowsMs
/** The most gaps that are listed. */
export const gapsMax = 50
export const daysShown = 30
/** Thirty times 24 hours may begin in the local day before those, and an hour earlier when the clocks change. */
export const daysCounted = daysShown + 2
/** Readings may be some minutes ahead of our clock. They are kept one by one until their time has come. */
const aheadMs = 15 * minuteMs

export interface ReliabilityInput {
  /** Ascending: the readings of the last thirty days and of the thirty local days up to now. */
  readonly timesMs: Float64Array
  /** The reading before those, since a gap may extend into the window; null when they begin with the device's first. */
  readonly beforeMs: number | null
  /** Keys are metrics. Values are as long as the times, NaN where missing. */
  readonly metrics: Readonly<Record<string, Float64Array>>
  readonly nowMs: number
  readonly cadence: Cadence
  readonly local: LocalTime
}

export interface ReliabilityRecord {
  /** The full minute up to which everything is counted. */
  readonly endMs: number
  readonly cadence: Cadence
  /** Null without any reading; not later than the device's first in the longest window. */
  readonly firstSeenMs: number | null
  readonly windows: Readonly<Record<WindowName, WindowRecord>>
  /** Keys are dates of the longest window. */
  readonly days: Readonly<Record<string, Counts>>
  /** Ended gaps of the longest window, newest first, at most fifty. */
  readonly gaps: readonly Gap[]
  readonly jitter: Jitter
  /** The last reading before the end and later ones, for any metric and by metric. */
  readonly recent: Arrivals
  readonly recentByMetric: Readonly<Record<string, Arrivals>>
}

/** Readings received in a stretch of time. */
export interface Counts {
  readonly readings: number
  /** See `coveredBetween`. */
  readonly covered: number
  readonly coveredByMetric: Readonly<Record<string, number>>
}

interface WindowRecord {
  /** Number of counted readings. */
  readonly received: number
  /** See `coveredBetween`. */
  readonly covered: number
  /** The local day in which the window begins, and the readings in the part of the day inside the window. */
  readonly firstDate: string
  readonly firstDay: Counts
  /** The gap in which the window begins. Its part inside shrinks with time. */
  readonly gapAtStart: Gap | null
  /** Number of the other ended gaps. */
  readonly gapCount: number
  readonly longestGapSeconds: number
  readonly downtimeMs: number
}

/** Everything ends at the full minute. */
export function recordReliability(input: ReliabilityInput): ReliabilityRecord {
  const { timesMs, beforeMs, cadence, local } = input
  const endMs = fullMinute(input.nowMs)
  const firstSeenMs = beforeMs ?? timesMs[0] ?? null
  const arrivals = arrivalsOf(timesMs, cadence)
  const byMetric = mapValues(input.metrics, values => arrivalsOf(presentOf(timesMs, values).timesMs, cadence))
  const days = localDays(local, endMs, daysCounted)
  const counted = { endMs, firstSeenMs, cadence, days, gaps: endedGaps(input, endMs), arrivals, byMetric }
  const startMs = endMs - windowsMs['30d']
  return {
    endMs,
    cadence,
    firstSeenMs,
    windows: mapValues(windowsMs, lengthMs => windowRecord(lengthMs, counted)) as ReliabilityRecord['windows'],
    days: Object.fromEntries(
      days.map(day => {
        const startMs = Math.max(day.startMs, firstSeenMs ?? day.startMs)
        return [day.date, countsOf(counted, startMs, Math.min(day.endMs, endMs))]
      }),
    ),
    gaps: counted.gaps.slice(-gapsMax).reverse(),
    jitter: jitterOf(between(arrivals.thinnedMs, startMs, endMs), cadence),
    recent: recentOf(arrivals, endMs, beforeMs),
    recentByMetric: mapValues(byMetric, some => recentOf(some, endMs, null)),
  }
}

export function fullMinute(timeMs: number): number {
  return Math.floor(timeMs / minuteMs) * minuteMs
}

function between(timesMs: Float64Array, fromMs: number, untilMs: number): Float64Array {
  return timesMs.subarray(lowerBound(timesMs, fromMs), lowerBound(timesMs, untilMs))
}

/** Gaps that extend into the longest window. */
function endedGaps({ timesMs, beforeMs, cadence }: ReliabilityInput, endMs: number): Gap[] {
  return findGaps(timesMs.subarray(0, lowerBound(timesMs, endMs)), cadence, beforeMs ?? undefined).filter(
    gap => gap.end_ms === null || gap.end_ms > endMs - windowsMs['30d'],
  )
}

interface Counted {
  readonly endMs: number
  readonly firstSeenMs: number | null
  readonly cadence: Cadence
  readonly days: readonly LocalDay[]
  readonly gaps: readonly Gap[]
  readonly arrivals: Arrivals
  readonly byMetric: Readonly<Record<string, Arrivals>>
}

function windowRecord(lengthMs: number, counted: Counted): WindowRecord {
  const { endMs, firstSeenMs, cadence, days, gaps, arrivals } = counted
  const startMs = windowStart(endMs, lengthMs, firstSeenMs)
  const inside = gaps.filter(gap => gap.start_ms >= startMs)
  const first = days.find(day => day.endMs > startMs)
  return {
    received: countBetween(arrivals.thinnedMs, startMs, endMs),
    covered: coveredBetween(arrivals, startMs, endMs, cadence),
    firstDate: first?.date ?? '',
    firstDay: countsOf(counted, startMs, Math.min(first?.endMs ?? startMs, endMs)),
    gapAtStart: gaps.find(gap => gap.start_ms < startMs && (gap.end_ms ?? endMs) > startMs) ?? null,
    gapCount: inside.length,
    longestGapSeconds: inside.reduce((longest, gap) => Math.max(longest, gap.duration_seconds), 0),
    downtimeMs: inside.reduce((sum, gap) => sum + downtimeMs(gap, cadence, startMs, endMs), 0),
  }
}

function countsOf({ arrivals, byMetric, cadence }: Counted, startMs: number, endMs: number): Counts {
  return {
    readings: countBetween(arrivals.timesMs, startMs, endMs),
    covered: coveredBetween(arrivals, startMs, endMs, cadence),
    coveredByMetric: mapValues(byMetric, some => coveredBetween(some, startMs, endMs, cadence)),
  }
}

/** A window does not begin before the device's first reading. */
export function windowStart(endMs: number, lengthMs: number, firstSeenMs: number | null): number {
  return Math.max(endMs - lengthMs, Math.min(firstSeenMs ?? endMs - lengthMs, endMs))
}

function recentOf({ timesMs, thinnedMs }: Arrivals, endMs: number, beforeMs: number | null): Arrivals {
  const since = (times: Float64Array) => {
    const from = lowerBound(times, endMs)
    const ahead = times.slice(Math.max(0, from - 1), lowerBound(times, endMs + aheadMs))
    return from === 0 && beforeMs !== null ? Float64Array.of(beforeMs, ...ahead) : ahead
  }
  return { timesMs: since(timesMs), thinnedMs: since(thinnedMs) }
}

export function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]))
}

/** The recorded coverage of a stretch, with the readings since. */
export function coveredUntil(
  counted: number,
  recent: Arrivals,
  { endMs, cadence }: ReliabilityRecord,
  stretch: { readonly startMs: number; readonly endMs: number },
): number {
  const before = coveredBetween(recent, stretch.startMs, Math.min(endMs, stretch.endMs), cadence)
  return counted + coveredBetween(recent, stretch.startMs, stretch.endMs, cadence) - before
}

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
function jitterOf(thinnedMs: Float64Array, { kind, expectedMs, gapMs, stretches }: Cadence): Jitter {
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
