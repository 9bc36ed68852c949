/** A bar per local day: how much of what was due came. */

import { localDays } from '../time/local-days.ts'
import type { LocalTime } from '../time/local-time.ts'
import { countBetween, coverageMin, coverageShare } from './coverage.ts'
import { coveredUntil, daysShown, type ReliabilityRecord } from './reliability-record.ts'

export interface ReliabilityDay {
  readonly date: string
  /** The share of the day's readings that came, for an irregular device of its hours; null before its first day. */
  readonly completeness: number | null
  readonly state: 'ok' | 'partial' | 'missing'
}

/** The denominator is the day's true length, of 23 or 25 hours when the clocks change; today counts so far. */
export function reliabilityDays(record: ReliabilityRecord, endMs: number, local: LocalTime): ReliabilityDay[] {
  const { firstSeenMs, cadence, recent } = record
  const byDate = new Map(record.days.map(day => [day.date, day]))
  return localDays(local, endMs, daysShown).map(({ date, startMs, endMs: dayEndMs }) => {
    const untilMs = Math.min(dayEndMs, endMs)
    const counted = byDate.get(date) ?? { readings: 0, covered: 0 }
    const covered = coveredUntil(counted.covered, recent, record, { startMs, endMs: untilMs })
    const isBefore = firstSeenMs === null || firstSeenMs >= dayEndMs
    const completeness = isBefore ? null : coverageShare(covered, startMs, untilMs, cadence)
    const sinceMs = Math.max(startMs, record.endMs)
    const readings = counted.readings + countBetween(recent.timesMs, sinceMs, untilMs)
    return { date, completeness, state: stateOf(completeness, readings) }
  })
}

function stateOf(completeness: number | null, readings: number): ReliabilityDay['state'] {
  if (readings === 0) return 'missing'
  return completeness !== null && completeness >= coverageMin ? 'ok' : 'partial'
}
