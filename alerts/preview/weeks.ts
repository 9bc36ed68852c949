/** Counts by week (ISO 8601) on the clock of a zone. */

import { formatDate, parseDate, twoDigits } from '../../analytics/time/calendar.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'

const dayMs = 86_400_000
const weekDays = 7

/** `2026-W48`: the week of a year that its Thursday lies in. */
export function weekOf(local: Pick<LocalTime, 'offsetMs'>, timeMs: number): string {
  const day = Math.floor((timeMs + local.offsetMs(timeMs)) / dayMs)
  // Day 0 was a Thursday.
  const thursday = Math.floor((day + 3) / weekDays) * weekDays
  const year = formatDate(thursday).slice(0, 4)
  const first = parseDate(`${year}-01-01`) as number
  return `${year}-W${twoDigits(Math.floor((thursday - first) / weekDays) + 1)}`
}

/** All weeks of a range, ascending. */
export function weeksBetween(local: Pick<LocalTime, 'offsetMs'>, fromMs: number, toMs: number): string[] {
  const weeks = new Set<string>()
  for (let timeMs = fromMs; timeMs < toMs; timeMs += dayMs) weeks.add(weekOf(local, timeMs))
  weeks.add(weekOf(local, toMs))
  return [...weeks]
}
