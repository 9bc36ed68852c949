/** Local times of a zone as moments. A repeated hour has two. */

import { ZoneOffsets } from '../../analytics/time/zone-offsets.ts'
import { CommandError, exitUsage } from '../command-error.ts'

/** Epoch microseconds, ascending: empty for a skipped time, two for a repeated time. */
export type MomentsOf = (localUs: number) => readonly number[]

const dayMs = 86_400_000

/** Throws a CommandError. */
export function createLocalClock(zone: string): MomentsOf {
  const offsets = zoneOffsets(zone)
  return localUs => {
    const localMs = Math.floor(localUs / 1000)
    const near = new Set([offsets.at(localMs - dayMs), offsets.at(localMs + dayMs)])
    const found = [...near].filter(offsetMs => offsets.at(localMs - offsetMs) === offsetMs)
    return found.map(offsetMs => localUs - offsetMs * 1000).sort((a, b) => a - b)
  }
}

function zoneOffsets(zone: string): ZoneOffsets {
  try {
    return new ZoneOffsets(zone)
  } catch {
    throw new CommandError(`there is no time zone ${zone}; use a name such as Europe/Zurich`, exitUsage)
  }
}
