/** The local calendar days up to a moment. Their edges come from the calendar: a day may have 23 or 25 hours. */

import { formatDate, parseDate } from './calendar.ts'
import type { LocalTime } from './local-time.ts'

/** `[startMs, endMs)` of the day `YYYY-MM-DD`; empty for a day that the zone skipped. */
export interface LocalDay {
  readonly date: string
  readonly startMs: number
  readonly endMs: number
}

/** The day that contains this moment and the days before it, `count` in total, oldest first. */
export function localDays(local: LocalTime, untilMs: number, count: number): LocalDay[] {
  const today = parseDate(local.text(untilMs * 1000).slice(0, 10))
  if (today === undefined) throw new RangeError(`${untilMs} is outside the calendar`)
  return Array.from({ length: count }, (_, index) => {
    const date = formatDate(today - count + 1 + index)
    const range = local.day(date)
    if (range === undefined) throw new RangeError(`${date} is outside the calendar`)
    return { date, startMs: range.startUs / 1000, endMs: range.endUs / 1000 }
  })
}
