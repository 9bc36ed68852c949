/** Weekly windows of a silence, on the clock of the service's time zone. */

import { z } from 'zod'

const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time as 06:30')
const windowsMax = 21

export const WeeklyWindow = z
  .strictObject({
    days: z.array(z.int().min(1).max(7)).min(1).max(7).meta({ description: '1 is Monday, 7 is Sunday' }),
    from: clock,
    until: clock,
  })
  .meta({ description: 'Ends on the next day where `until` is not after `from`' })
export type WeeklyWindow = z.infer<typeof WeeklyWindow>

export const WeeklyWindows = z.array(WeeklyWindow).min(1).max(windowsMax)

const minuteMs = 60_000
const dayMs = 86_400_000

/** `localMs`: the moment that the local clock shows, as if it were UTC. */
export function isInWindows(windows: readonly WeeklyWindow[], localMs: number): boolean {
  const day = Math.floor(localMs / dayMs)
  const minute = Math.floor((localMs - day * dayMs) / minuteMs)
  return windows.some(window => isInWindow(window, weekday(day), minute))
}

function isInWindow({ days, from, until }: WeeklyWindow, day: number, minute: number): boolean {
  const fromMinute = minuteOf(from)
  const untilMinute = minuteOf(until)
  if (fromMinute < untilMinute) return days.includes(day) && minute >= fromMinute && minute < untilMinute
  const dayBefore = day === 1 ? 7 : day - 1
  return (days.includes(day) && minute >= fromMinute) || (days.includes(dayBefore) && minute < untilMinute)
}

/** The weekday of a day number. Day 0 was a Thursday. */
function weekday(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1
}

function minuteOf(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
}
