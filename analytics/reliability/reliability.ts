/**
 * The reliability of a device: uptime, completeness and gaps over a day, a week and thirty days that end now. Anchors:
 * Timescale's `heartbeat_agg` with its predecessor, and the three-quarters rule of Directive 2008/50/EC.
 */

import { lowerBound } from '../lower-bound.ts'
import { type LocalDay, localDays } from '../time/local-days.ts'
import type { LocalTime } from '../time/local-time.ts'
import { countBetween, coverageMin, coverageShare } from './coverage.ts'
import { findGaps, type Gap, ongoingGap } from './gaps.ts'
import type { Jitter } from './jitter.ts'
import {
  coveredUntil,
  daysCounted,
  daysShown,
  fullMinute,
  gapsMax,
  type ReliabilityRecord,
  type WindowName,
  windowsMs,
} from './reliability-record.ts'
import { type ReliabilityWindow, reliabilityWindow } from './reliability-window.ts'

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
