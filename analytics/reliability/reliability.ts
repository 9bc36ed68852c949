/**
 * The reliability of a device: uptime, completeness and gaps over a day, a week and thirty days that end now. Anchors:
 * Timescale's `heartbeat_agg` with its predecessor, and the three-quarters rule of Directive 2008/50/EC.
 */

import { lowerBound } from '../lower-bound.ts'
import { type LocalDay, localDays } from '../time/local-days.ts'
import type { LocalTime } from '../time/local-time.ts'
import { type Cadence, expectedBetween } from './cadence.ts'
import { type Arrivals, countBetween, coverageMin, coverageShare } from './coverage.ts'
import { downtimeMs, findGaps, type Gap, ongoingGap } from './gaps.ts'
import {
  type Counts,
  coveredUntil,
  daysCounted,
  daysShown,
  fullMinute,
  gapsMax,
  type Jitter,
  mapValues,
  type ReliabilityRecord,
  type WindowName,
  windowStart,
  windowsMs,
} from './reliability-record.ts'

export interface Reliability extends Jitter {
  readonly windows: Record<WindowName, ReliabilityWindow>
  readonly gap_threshold_seconds: number | null
  /** Gaps of the thirty days, newest first, at most fifty; `gaps_total` counts them all. */
  readonly gaps: Gap[]
  readonly gaps_total: number
  readonly days: ReliabilityDay[]
}

/**
 * Reliability at the full minute of `nowMs`, which is not before the record's. The result equals a new record of the
 * same readings at that moment, with two exceptions. The jitter stays, and readings that have left a window since still
 * count in it. So its shares are off by at most the time since the record over the window's length.
 */
export function reliabilityAt(record: ReliabilityRecord, nowMs: number, local: LocalTime): Reliability {
  const endMs = Math.max(record.endMs, fullMinute(nowMs))
  const recentGaps = gapsSince(record, endMs)
  const days = localDays(local, endMs, daysCounted)
  const windows = {
    '24h': reliabilityWindow('24h', record, recentGaps, endMs, days),
    '7d': reliabilityWindow('7d', record, recentGaps, endMs, days),
    '30d': reliabilityWindow('30d', record, recentGaps, endMs, days),
  }
  const stillInside = record.gaps.filter(gap => (gap.end_ms ?? endMs) > endMs - windowsMs['30d'])
  const { gapMs } = record.cadence
  return {
    windows,
    gap_threshold_seconds: gapMs === null ? null : gapMs / 1000,
    ...record.jitter,
    gaps: [...recentGaps.toReversed(), ...stillInside].slice(0, gapsMax),
    gaps_total: windows['30d'].gap_count,
    days: reliabilityDays(record, endMs, local),
  }
}

/** Gaps that ended since the record was made, and the ongoing one; oldest first. */
function gapsSince({ cadence, recent }: ReliabilityRecord, endMs: number): Gap[] {
  const timesMs = recent.timesMs.subarray(0, lowerBound(recent.timesMs, endMs))
  const lastMs = timesMs.at(-1)
  if (lastMs === undefined) return []
  const ongoing = ongoingGap(lastMs, endMs, cadence)
  return ongoing === null ? findGaps(timesMs, cadence) : [...findGaps(timesMs, cadence), ongoing]
}

interface ReliabilityDay {
  readonly date: string
  /**
   * The share of the day's expected readings that came; for an irregular device, of its hours. Null before its first
   * reading.
   */
  readonly completeness: number | null
  /** Null before the device's first reading, and at the very beginning of a day. */
  readonly state: 'ok' | 'partial' | 'missing' | null
}

/**
 * The denominator is the day's true length, with 23 or 25 hours when the clocks change. The day of the first reading
 * begins with it, and today counts so far.
 */
function reliabilityDays(record: ReliabilityRecord, endMs: number, local: LocalTime): ReliabilityDay[] {
  return localDays(local, endMs, daysShown).map(day => reliabilityDay(record, day, endMs))
}

function reliabilityDay(record: ReliabilityRecord, day: LocalDay, endMs: number): ReliabilityDay {
  const { firstSeenMs, cadence, recent } = record
  const { date } = day
  if (firstSeenMs === null || firstSeenMs >= day.endMs) return { date, completeness: null, state: null }
  const startMs = Math.max(day.startMs, firstSeenMs)
  const untilMs = Math.min(day.endMs, endMs)
  if (untilMs <= startMs) return { date, completeness: null, state: null }
  const counted = record.days[date] ?? { readings: 0, covered: 0 }
  const covered = coveredUntil(counted.covered, recent, record, { startMs, endMs: untilMs })
  const completeness = coverageShare(covered, startMs, untilMs, cadence)
  const readings = counted.readings + countBetween(recent.timesMs, Math.max(startMs, record.endMs), untilMs)
  return { date, completeness, state: stateOf(completeness, readings) }
}

function stateOf(completeness: number | null, readings: number): ReliabilityDay['state'] {
  if (readings === 0) return 'missing'
  return completeness !== null && completeness >= coverageMin ? 'ok' : 'partial'
}

interface ReliabilityWindow {
  /** The share of the window without a gap's downtime; null while the due times of readings are unknown. */
  readonly uptime: number | null
  /**
   * The share of the expected readings that came: the mean of the window's local days by their length. Each day counts
   * at most as much as was due, so that one with too many readings does not compensate for another. Null for an
   * irregular device.
   */
  readonly completeness: number | null
  /** The share of the hours with a reading, for an irregular device; else null. */
  readonly hours_with_data: number | null
  readonly received: number
  /** Null for an irregular device. */
  readonly expected: number | null
  readonly gap_count: number
  /** The whole length of the longest gap, also of one that began before the window; 0 without a gap. */
  readonly longest_gap_seconds: number
  readonly downtime_seconds: number | null
  /** Mean time between failures, and to repair; both null without a gap. */
  readonly mtbf_seconds: number | null
  readonly mttr_seconds: number | null
  /** The window's length when it has no gap: the time between failures is at least that. */
  readonly mtbf_lower_bound_seconds: number | null
  /** The device is younger than the window, by more than an interval. The window then begins with its first reading. */
  readonly truncated: boolean
  readonly metrics: Record<string, { readonly completeness: number | null }>
}

/**
 * The window is [start, end): each reading covers the interval that follows it. `recentGaps` are the gaps since the
 * record was made, `days` the local days of the window.
 */
function reliabilityWindow(
  name: WindowName,
  record: ReliabilityRecord,
  recentGaps: readonly Gap[],
  endMs: number,
  days: readonly LocalDay[],
): ReliabilityWindow {
  const { cadence, firstSeenMs, recent, recentByMetric } = record
  const counted = record.windows[name]
  const startMs = windowStart(endMs, windowsMs[name], firstSeenMs)
  const isKnown = firstSeenMs !== null && endMs > startMs
  const isRegular = cadence.kind === 'regular'
  const completeness = (some: Arrivals, countOf: (counts: Counts) => number) =>
    isKnown && isRegular ? completenessOf(record, some, countOf, { name, startMs, endMs, days }) : null
  return {
    ...downtimeFigures(name, record, recentGaps, startMs, endMs),
    completeness: completeness(recent, ({ covered }) => covered),
    hours_with_data:
      isKnown && cadence.kind === 'irregular'
        ? coverageShare(coveredUntil(counted.covered, recent, record, { startMs, endMs }), startMs, endMs, cadence)
        : null,
    received: counted.received + countBetween(recent.thinnedMs, record.endMs, endMs),
    expected: isRegular ? Math.round(expectedBetween(cadence, startMs, endMs)) : null,
    truncated: firstSeenMs !== null && firstSeenMs - (cadence.expectedMs ?? 0) > endMs - windowsMs[name],
    metrics: mapValues(recentByMetric, (some, metric) => {
      return { completeness: completeness(some, ({ coveredByMetric }) => coveredByMetric[metric] ?? 0) }
    }),
  }
}

interface Stretch {
  readonly startMs: number
  readonly endMs: number
}

interface WindowExtent extends Stretch {
  readonly name: WindowName
  readonly days: readonly LocalDay[]
}

function completenessOf(
  record: ReliabilityRecord,
  recent: Arrivals,
  countOf: (counts: Counts) => number,
  { name, startMs, endMs, days }: WindowExtent,
): number {
  const { firstDate, firstDay } = record.windows[name]
  let completeMs = 0
  for (const day of days) {
    const stretch = { startMs: Math.max(day.startMs, startMs), endMs: Math.min(day.endMs, endMs) }
    if (stretch.endMs <= stretch.startMs) continue
    const counts = day.date === firstDate ? firstDay : record.days[day.date]
    const coveredMs = coveredUntil(counts === undefined ? 0 : countOf(counts), recent, record, stretch)
    completeMs += Math.min(coveredMs, coveredMsMax(record.cadence, stretch))
  }
  return Math.min(1, completeMs / (endMs - startMs))
}

/** A stretch of 2.5 intervals, as they are at its end, contains two readings or three. */
function coveredMsMax({ stretches }: Cadence, { startMs, endMs }: Stretch): number {
  const expectedMs = stretches.findLast(({ fromMs }) => fromMs < endMs)?.expectedMs ?? 0
  return (Math.floor((endMs - startMs) / expectedMs + rounding) + 1) * expectedMs
}
/** Rounding error of a quotient. */
const rounding = 1e-9

function downtimeFigures(
  name: WindowName,
  { cadence, firstSeenMs, windows }: ReliabilityRecord,
  recentGaps: readonly Gap[],
  startMs: number,
  endMs: number,
) {
  const { gapAtStart, gapCount, longestGapSeconds, downtimeMs: countedMs } = windows[name]
  const others = [gapAtStart, ...recentGaps].filter(gap => gap !== null).filter(gap => (gap.end_ms ?? endMs) > startMs)
  const count = gapCount + others.length
  const counts = {
    gap_count: count,
    longest_gap_seconds: others.reduce((longest, gap) => Math.max(longest, gap.duration_seconds), longestGapSeconds),
  }
  if (firstSeenMs === null || endMs <= startMs || cadence.kind === 'unknown') {
    const none = { uptime: null, downtime_seconds: null, mtbf_seconds: null, mttr_seconds: null }
    return { ...counts, ...none, mtbf_lower_bound_seconds: null }
  }
  const lengthSeconds = (endMs - startMs) / 1000
  const downSeconds = others.reduce((sum, gap) => sum + downtimeMs(gap, cadence, startMs, endMs), countedMs) / 1000
  const perGap = (seconds: number) => (count === 0 ? null : seconds / count)
  return {
    ...counts,
    uptime: 1 - downSeconds / lengthSeconds,
    downtime_seconds: downSeconds,
    mtbf_seconds: perGap(lengthSeconds - downSeconds),
    mttr_seconds: perGap(downSeconds),
    mtbf_lower_bound_seconds: count === 0 ? lengthSeconds : null,
  }
}
