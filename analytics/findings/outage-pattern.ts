/** Outages that recur at the same time of the day, such as a device that is switched off at night. */

import { circularSummary } from '../direction/circular-summary.ts'
import type { Gap } from '../reliability/gaps.ts'
import { parseDate, twoDigits } from '../time/calendar.ts'
import type { LocalTime } from '../time/local-time.ts'
import type { DayPattern } from './finding.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const minutesOfDay = 1440

/** Shorter ones are losses. A longer one covers every time of the day. */
const lengthMinMs = hourMs
const lengthMaxMs = 20 * hourMs
/** Distance between the examined times of the day. */
const slotMinutes = 15
/** Days required among the last seven, or share of at least this many of thirty days. */
const weekDays = 7
const daysOfWeekMin = 4
const shareMin = 0.5
const daysMin = 10
const daysMax = 30
/** The mean resultant length of their beginnings, at which they scatter by less than two hours. */
const resultantMin = 0.9

export interface OutagePattern {
  readonly sinceMs: number
  /** Null while the pattern includes the last day. */
  readonly untilMs: number | null
  /** Number of days with an outage. */
  readonly count: number
  readonly pattern: DayPattern
  readonly gaps: readonly Gap[]
}

interface Outage {
  readonly gap: Gap
  /** The local day number of its beginning, and the minute of the clock at which it begins. */
  readonly day: number
  readonly fromMinute: number
  readonly lengthMinutes: number
}

/** Takes gaps in any order; ongoing ones are ignored. `firstMs` is the device's first reading. */
export function outagePattern(
  gaps: readonly Gap[],
  local: LocalTime,
  nowMs: number,
  firstMs: number,
): OutagePattern | null {
  const outages = gaps.flatMap(gap => outageOf(gap, local, nowMs) ?? [])
  const members = mostAtOneTime(outages)
  const daysKnown = Math.min(daysMax, Math.floor((nowMs - firstMs) / dayMs))
  const days = daysOf(members)
  // A daily outage ends once on each day.
  const daysOfWeek = daysOf(members.filter(({ gap }) => (gap.end_ms as number) > nowMs - weekDays * dayMs))
  const isOfWeek = daysOfWeek >= daysOfWeekMin
  const isOfMonth = daysKnown >= daysMin && days >= shareMin * daysKnown
  if (!isOfWeek && !isOfMonth) return null
  const starts = circularSummary(Float64Array.from(members, ({ fromMinute }) => degreesOf(fromMinute)))
  if ((starts.resultant_length ?? 0) < resultantMin || starts.mean_degrees === null) return null
  const ends = circularSummary(
    Float64Array.from(members, ({ fromMinute, lengthMinutes }) => degreesOf(fromMinute + lengthMinutes)),
  )
  if (ends.mean_degrees === null) return null
  const sorted = members.map(({ gap }) => gap).sort((a, b) => a.start_ms - b.start_ms)
  const last = sorted.at(-1) as Gap
  const [count, ofDays] = isOfWeek
    ? [daysOfWeek, Math.max(daysOfWeek, Math.min(weekDays, daysKnown))]
    : [days, daysKnown]
  return {
    sinceMs: (sorted[0] as Gap).start_ms,
    untilMs: nowMs - (last.end_ms as number) > dayMs + lengthMaxMs ? last.end_ms : null,
    count,
    pattern: { from: clockText(starts.mean_degrees), to: clockText(ends.mean_degrees), days: ofDays },
    gaps: sorted,
  }
}

function outageOf(gap: Gap, local: LocalTime, nowMs: number): Outage | undefined {
  if (gap.end_ms === null || gap.end_ms < nowMs - daysMax * dayMs) return undefined
  const lengthMs = gap.end_ms - gap.start_ms
  if (lengthMs < lengthMinMs || lengthMs > lengthMaxMs) return undefined
  const { day, minute } = localMinutes(gap.start_ms, local)
  return { gap, day, fromMinute: minute, lengthMinutes: lengthMs / minuteMs }
}

function localMinutes(timeMs: number, local: LocalTime): { day: number; minute: number } {
  const text = local.text(timeMs * 1000)
  const minute = 60 * Number(text.slice(11, 13)) + Number(text.slice(14, 16))
  return { day: parseDate(text.slice(0, 10)) as number, minute }
}

/** The outages that contain the most frequent time of the day, each with the day on which it contains that time. */
function mostAtOneTime(outages: readonly Outage[]): Outage[] {
  let best: Outage[] = []
  let bestDays = 0
  for (let minute = 0; minute < minutesOfDay; minute += slotMinutes) {
    const there = outages.flatMap(outage => {
      const { day, fromMinute, lengthMinutes } = outage
      if ((minute - fromMinute + minutesOfDay) % minutesOfDay >= lengthMinutes) return []
      // On some nights they begin before midnight, on others after it.
      return [{ ...outage, day: minute < fromMinute ? day + 1 : day }]
    })
    const days = daysOf(there)
    if (days > bestDays) [best, bestDays] = [there, days]
  }
  return best
}

const daysOf = (outages: readonly Outage[]) => new Set(outages.map(({ day }) => day)).size

const degreesOf = (minute: number) => (minute / minutesOfDay) * 360

function clockText(degrees: number): string {
  const minute = Math.round((degrees / 360) * minutesOfDay) % minutesOfDay
  return `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}`
}
