/** How reliably a device reported over one window that ends now. */

import type { Cadence } from './cadence.ts'
import { type Arrivals, countBetween, coverageOf, hoursWithData } from './coverage.ts'
import { downtimeMs, type Gap } from './gaps.ts'

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

export interface WindowInput {
  readonly lengthMs: number
  readonly endMs: number
  /** The device's first reading ever, null when there is none. */
  readonly firstSeenMs: number | null
  readonly cadence: Cadence
  readonly gaps: readonly Gap[]
  /** Of any reading, and per metric. */
  readonly arrivals: Arrivals
  readonly arrivalsByMetric: Readonly<Record<string, Arrivals>>
}

/** The window is [start, end): each reading stands for the interval that follows it. */
export function reliabilityWindow(input: WindowInput): ReliabilityWindow {
  const { lengthMs, endMs, firstSeenMs, cadence, arrivals } = input
  const startMs = Math.max(endMs - lengthMs, Math.min(firstSeenMs ?? endMs - lengthMs, endMs))
  const clippedMs = endMs - startMs
  const isKnown = firstSeenMs !== null && clippedMs > 0
  const completenessOf = (some: Arrivals) =>
    isKnown && cadence.kind === 'regular' ? coverageOf(some, startMs, endMs, cadence) : null
  const metrics = Object.entries(input.arrivalsByMetric).map(
    ([metric, some]) => [metric, { completeness: completenessOf(some) }] as const,
  )
  return {
    ...downtimeFigures(input, startMs, isKnown),
    completeness: completenessOf(arrivals),
    hours_with_data: isKnown && cadence.kind === 'irregular' ? hoursWithData(arrivals.timesMs, startMs, endMs) : null,
    received: countBetween(arrivals.thinnedMs, startMs, endMs),
    expected: cadence.expectedMs === null ? null : Math.round(clippedMs / cadence.expectedMs),
    truncated: firstSeenMs !== null && firstSeenMs > endMs - lengthMs,
    metrics: Object.fromEntries(metrics),
  }
}

function downtimeFigures({ endMs, cadence, gaps }: WindowInput, startMs: number, isKnown: boolean) {
  const inside = gaps.filter(gap => (gap.end_ms ?? endMs) > startMs)
  const counts = {
    gap_count: inside.length,
    longest_gap_seconds: inside.reduce((longest, gap) => Math.max(longest, gap.duration_seconds), 0),
  }
  const { expectedMs } = cadence
  if (!isKnown || expectedMs === null) {
    const none = { uptime: null, downtime_seconds: null, mtbf_seconds: null, mttr_seconds: null }
    return { ...counts, ...none, mtbf_lower_bound_seconds: null }
  }
  const lengthSeconds = (endMs - startMs) / 1000
  const downSeconds = inside.reduce((sum, gap) => sum + downtimeMs(gap, expectedMs, startMs, endMs), 0) / 1000
  const perGap = (seconds: number) => (inside.length === 0 ? null : seconds / inside.length)
  return {
    ...counts,
    uptime: 1 - downSeconds / lengthSeconds,
    downtime_seconds: downSeconds,
    mtbf_seconds: perGap(lengthSeconds - downSeconds),
    mttr_seconds: perGap(downSeconds),
    mtbf_lower_bound_seconds: inside.length === 0 ? lengthSeconds : null,
  }
}
