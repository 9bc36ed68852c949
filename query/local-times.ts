/** The local times of time zones, each created on first use, because it caches its lookups. */

import { createLocalTime, type LocalTime } from '../analytics/time/local-time.ts'

/** More than the number of zones, whose names are validated anyway. */
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
