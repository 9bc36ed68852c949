/** Excursions of a metric beyond thresholds: each one, by day, and in total. */

import { type DayOfExcursions, type Excursion, findExcursions } from '../../analytics/excursions/excursions.ts'
import type { Samples } from '../../analytics/present.ts'
import type { GapThresholds } from '../../analytics/reliability/cadence.ts'
import { type LocalDay, localDays } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type Excursions, excursionsMax } from '../shapes/excursions.ts'
import { answerContext } from './answer-text.ts'

interface ExcursionsAsked {
  readonly above: number | null
  readonly below: number | null
  readonly forSeconds: number
  readonly startMs: number
  /** Not included, and not later than now. */
  readonly endMs: number
}

export interface ExcursionsInput extends ExcursionsAsked {
  readonly device: string
  readonly metric: string
  readonly unit: string | null
  readonly samples: Samples
  readonly gaps: GapThresholds
  readonly nowMs: number
  readonly local: LocalTime
}

const dayMs = 86_400_000
const minuteMs = 60_000

export function buildExcursions(input: ExcursionsInput): string {
  const { device, metric, unit, samples, gaps, above, below, forSeconds, startMs, endMs, nowMs, local } = input
  const days = daysBetween(local, startMs, endMs)
  const found = findExcursions(samples, { above, below, forMs: forSeconds * 1000, gaps, startMs, endMs, days })
  return JSON.stringify({
    device,
    ...answerContext(local, nowMs),
    metric,
    unit,
    above,
    below,
    for_seconds: forSeconds,
    start: local.text(startMs * 1000),
    end: local.text(endMs * 1000),
    total: totalsOf(sumOf(found.days, found.episodes)),
    days: days.map(({ date }, at) => ({ date, ...totalsOf(found.days[at] as DayOfExcursions) })),
    episodes: found.episodes
      .slice(-excursionsMax)
      .reverse()
      .map(episode => episodeOf(episode, local)),
    episodes_total: found.episodes.length,
  } satisfies Excursions)
}

/** The local days of the range. The first and the last one are cut by it. */
function daysBetween(local: LocalTime, startMs: number, endMs: number): LocalDay[] {
  const count = Math.ceil((endMs - startMs) / dayMs) + 2
  return localDays(local, endMs - 1, count)
    .map(day => ({ ...day, startMs: Math.max(day.startMs, startMs), endMs: Math.min(day.endMs, endMs) }))
    .filter(day => day.startMs < day.endMs)
}

function sumOf(days: readonly DayOfExcursions[], episodes: readonly Excursion[]): DayOfExcursions {
  const sum = (name: keyof DayOfExcursions) => days.reduce((total, day) => total + day[name], 0)
  return {
    count: sum('count'),
    longestMs: episodes.reduce((max, { startMs, endMs }) => Math.max(max, endMs - startMs), 0),
    lengthMs: sum('lengthMs'),
    distanceMs: sum('distanceMs'),
    silenceMs: sum('silenceMs'),
    coveredMs: sum('coveredMs'),
  }
}

function totalsOf({ count, longestMs, lengthMs, distanceMs, silenceMs, coveredMs }: DayOfExcursions) {
  return {
    count,
    longest_seconds: longestMs / 1000,
    seconds: lengthMs / 1000,
    degree_minutes: distanceMs / minuteMs,
    gap_seconds: silenceMs / 1000,
    covered_seconds: coveredMs / 1000,
  }
}

function episodeOf(
  { direction, startMs, endMs, isOngoing, distanceMs, extreme, silenceMs }: Excursion,
  local: LocalTime,
) {
  return {
    direction,
    start: local.text(startMs * 1000),
    end: isOngoing ? null : local.text(endMs * 1000),
    seconds: (endMs - startMs) / 1000,
    degree_minutes: distanceMs / minuteMs,
    extreme,
    gap_seconds: silenceMs / 1000,
  }
}
