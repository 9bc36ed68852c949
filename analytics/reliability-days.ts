/** A bar per local day: how much of what was due came. */

import type { Cadence } from './cadence.ts'
import { type Arrivals, countBetween, coverageMin, coverageOf } from './coverage.ts'
import type { LocalDay } from './local-days.ts'

export interface ReliabilityDay {
  readonly date: string
  /** The share of the day's readings that came, for an irregular device of its hours; null before its first day. */
  readonly completeness: number | null
  readonly state: 'ok' | 'partial' | 'missing'
}

export interface DaysInput {
  readonly days: readonly LocalDay[]
  /** The last day counts so far. */
  readonly endMs: number
  readonly firstSeenMs: number | null
  readonly cadence: Cadence
  readonly arrivals: Arrivals
}

/** The denominator is the day's true length, of 23 or 25 hours when the clocks change. */
export function reliabilityDays({ days, endMs, firstSeenMs, cadence, arrivals }: DaysInput): ReliabilityDay[] {
  return days.map(({ date, startMs, endMs: dayEndMs }) => {
    const untilMs = Math.min(dayEndMs, endMs)
    const isBefore = firstSeenMs === null || firstSeenMs >= dayEndMs
    const completeness = isBefore ? null : coverageOf(arrivals, startMs, untilMs, cadence)
    return { date, completeness, state: stateOf(completeness, countBetween(arrivals.timesMs, startMs, untilMs)) }
  })
}

function stateOf(completeness: number | null, received: number): 'ok' | 'partial' | 'missing' {
  if (received === 0) return 'missing'
  return completeness !== null && completeness >= coverageMin ? 'ok' : 'partial'
}
