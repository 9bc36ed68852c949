/** How reliably a device reported over one window that ends now. */

import { countBetween, coverageShare } from './coverage.ts'
import { downtimeMs, type Gap } from './gaps.ts'
import {
  coveredUntil,
  mapValues,
  type ReliabilityRecord,
  type WindowName,
  windowStart,
  windowsMs,
} from './reliability-record.ts'

export interface ReliabilityWindow {
  /** The share of the window without a gap's downtime; null while it is unknown when a reading is due. */
  readonly uptime: number | null
  /** The share of the expected readings that came, at most 1; null for an irregular device. */
  readonly completeness: number | null
  /** The share of the hours with a reading, for an irregular device; else null. */
  readonly hours_with_data: number | null
  readonly received: number
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
  /** The device is younger than the window, which then begins with its first reading. */
  readonly truncated: boolean
  readonly metrics: Record<string, { readonly completeness: number | null }>
}

/**
 * The window is [start, end): each reading stands for the interval that follows it. `recentGaps` are those since the
 * record was made.
 */
export function reliabilityWindow(
  name: WindowName,
  record: ReliabilityRecord,
  recentGaps: readonly Gap[],
  endMs: number,
): ReliabilityWindow {
  const { cadence, firstSeenMs, recent, recentByMetric } = record
  const counted = record.windows[name]
  const startMs = windowStart(endMs, windowsMs[name], firstSeenMs)
  const stretch = { startMs, endMs }
  const isKnown = firstSeenMs !== null && endMs > startMs
  const shareOf = (covered: number) => (isKnown ? coverageShare(covered, startMs, endMs, cadence) : null)
  const share = shareOf(coveredUntil(counted.covered, recent, record, stretch))
  const isRegular = cadence.kind === 'regular'
  return {
    ...downtimeFigures(name, record, recentGaps, startMs, endMs),
    completeness: isRegular ? share : null,
    hours_with_data: cadence.kind === 'irregular' ? share : null,
    received: counted.received + countBetween(recent.thinnedMs, record.endMs, endMs),
    expected: cadence.expectedMs === null ? null : Math.round((endMs - startMs) / cadence.expectedMs),
    truncated: firstSeenMs !== null && firstSeenMs > endMs - windowsMs[name],
    metrics: mapValues(recentByMetric, (some, metric) => {
      const covered = coveredUntil(counted.coveredByMetric[metric] ?? 0, some, record, stretch)
      return { completeness: isRegular ? shareOf(covered) : null }
    }),
  }
}

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
  const { expectedMs } = cadence
  if (firstSeenMs === null || endMs <= startMs || expectedMs === null) {
    const none = { uptime: null, downtime_seconds: null, mtbf_seconds: null, mttr_seconds: null }
    return { ...counts, ...none, mtbf_lower_bound_seconds: null }
  }
  const lengthSeconds = (endMs - startMs) / 1000
  const downSeconds = others.reduce((sum, gap) => sum + downtimeMs(gap, expectedMs, startMs, endMs), countedMs) / 1000
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
