/** A bar per local day: how much of what was due came. */

import { type LocalDay, localDays } from '../time/local-days.ts'
import type { LocalTime } from '../time/local-time.ts'
import { countBetween, coverageMin, coverageShare } from './coverage.ts'
import { coveredUntil, daysShown, type ReliabilityRecord } from './reliability-record.ts'

export interface ReliabilityDay {
  readonly date: string
  /** The share of the day's readings that came, for an irregular device of its hours; null before its first reading. */
  readonly completeness: number | null
  /** Null before the device's first reading, and at the very beginning of a day. */
  readonly state: 'ok' | 'partial' | 'missing' | null
}

/**
 * The denominator is the day's true length, of 23 or 25 hours when the clocks change; the day of the first reading begins
 * with that, and today counts so far.
 */
export function reliabilityDays(record: ReliabilityRecord, endMs: number, local: LocalTime): ReliabilityDay[] {
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
