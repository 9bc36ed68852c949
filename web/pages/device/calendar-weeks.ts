/** Days as a calendar: weeks from Monday to Sunday, with places left empty before the first and after the last day. */

import { dayMs } from '../../text/zone.ts'

export interface CalendarDay {
  readonly date: string
}

/** Rows of seven. */
export function calendarWeeks<Day extends CalendarDay>(days: readonly Day[]): (Day | undefined)[][] {
  const weeks: (Day | undefined)[][] = []
  for (const day of days) {
    const weekday = weekdayOf(day.date)
    if (weeks.length === 0 || weekday === 0) weeks.push(new Array<Day | undefined>(7).fill(undefined))
    const week = weeks.at(-1) as (Day | undefined)[]
    week[weekday] = day
  }
  return weeks
}

/** 0 for Monday. */
function weekdayOf(date: string): number {
  const day = Date.parse(`${date}T00:00Z`) / dayMs
  return (((day + 3) % 7) + 7) % 7
}
