/** The local times of time zones, each made when it is first asked for, because it caches what it has looked up. */

import { createLocalTime, type LocalTime } from '../analytics/time/local-time.ts'

/** More than there are, but names of zones are known in any case. */
const zonesMax = 1_000

export type LocalTimes = (timeZone: string) => LocalTime

export function createLocalTimes(): LocalTimes {
  const byZone = new Map<string, LocalTime>()
  return timeZone => {
    const known = byZone.get(timeZone)
    if (known !== undefined) return known
    if (byZone.size >= zonesMax) byZone.clear()
    const local = createLocalTime(timeZone)
    byZone.set(timeZone, local)
    return local
  }
}
