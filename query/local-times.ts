/** The clocks of time zones, each made when it is first asked for: a clock goes on knowing what it has looked up. */

import { createLocalTime, type LocalTime } from '../analytics/time/local-time.ts'

/** More than there are, but names of zones are known in any case. */
const clocksMax = 1_000

export type LocalTimes = (timeZone: string) => LocalTime

export function createLocalTimes(): LocalTimes {
  const clocks = new Map<string, LocalTime>()
  return timeZone => {
    const known = clocks.get(timeZone)
    if (known !== undefined) return known
    if (clocks.size >= clocksMax) clocks.clear()
    const clock = createLocalTime(timeZone)
    clocks.set(timeZone, clock)
    return clock
  }
}
