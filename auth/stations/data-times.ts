/** When the newest data of stations came, in memory: as this process took them, or heard that another one did. */

import { createLastSeen, type LastSeenOptions, type SeenRecord } from '../last-seen.ts'
import type { Station } from './station.ts'

export interface DataTime extends SeenRecord {
  id: number
  /** This process took some. */
  isNoted: boolean
}

export interface DataTimes {
  /** Saved later in a batch, soon where these are the first data. */
  note(station: Pick<Station, 'id' | 'savedLastDataMs'>, timeMs: number): void
  /** Whoever took them saves it. */
  heard(station: Pick<Station, 'id'>, timeMs: number): void
  last(station: Station): number | null
  /** Forgets those of other stations. */
  keep(ids: ReadonlySet<number>): void
  close(): Promise<void>
}

/** That a station has data decides whether reads look for points at all, so a crash soon afterwards must not forget it. */
const firstFlushMs = 50

export function createDataTimes(options: LastSeenOptions<DataTime>): DataTimes {
  const times = new Map<number, DataTime>()
  const saving = createLastSeen(options)

  function raised(id: number, timeMs: number): DataTime {
    const time = times.get(id) ?? { id, lastSeenMs: 0, seenUnsaved: false, isNoted: false }
    time.lastSeenMs = Math.max(time.lastSeenMs, timeMs)
    times.set(id, time)
    return time
  }

  return {
    note({ id, savedLastDataMs }, timeMs) {
      const time = raised(id, timeMs)
      saving.willBeSeen(time, !time.isNoted && savedLastDataMs === null ? firstFlushMs : options.flushMs)
      time.isNoted = true
    },
    heard: ({ id }, timeMs) => void raised(id, timeMs),
    last({ id, savedLastDataMs }) {
      const knownMs = times.get(id)?.lastSeenMs
      return knownMs === undefined ? savedLastDataMs : Math.max(knownMs, savedLastDataMs ?? knownMs)
    },
    keep(ids) {
      for (const id of times.keys()) if (!ids.has(id)) times.delete(id)
    },
    close: saving.close,
  }
}
