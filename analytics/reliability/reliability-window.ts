/** The reliability of a device over one window that ends now. */

import type { LocalDay } from '../time/local-days.ts'
import { type Cadence, expectedBetween } from './cadence.ts'
import { type Arrivals, countBetween, coverageShare } from './coverage.ts'
import { downtimeMs, type Gap } from './gaps.ts'
import {
  type Counts,
  coveredUntil,
  mapValues,
  type ReliabilityRecord,
  type WindowName,
  windowStart,
  windowsMs,
} from './reliability-record.ts'

export interface ReliabilityWindow {
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
export function reliabilityWindow(
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
