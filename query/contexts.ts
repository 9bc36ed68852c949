/** What a thread uses for its queries: of a device its readings, of a station its points. */

import type { LocalTime } from '../analytics/time/local-time.ts'
import { bug } from '../limits/bug.ts'
import type { Place } from '../placement/placement.ts'
import type { AnalysedDevice } from './analysed-device.ts'
import { createLocalTimes } from './local-times.ts'
import { sourcesOf } from './shards/placed-sources.ts'
import { createShards, type OpenShard } from './shards/shard-reads.ts'
import { createStationContext } from './stations/station-context.ts'
import type { Task, WorkerSettings } from './task.ts'
import type { TaskContext } from './task-context.ts'

export interface Contexts {
  /** Of the service. */
  readonly local: LocalTime
  /** The shards, as a task may read them. */
  readonly shardsFor: (task: Pick<Task<object>, 'away'>) => OpenShard
  ofPlaces(places: readonly Place[], open: OpenShard, signal: AbortSignal): TaskContext
  of(
    device: Pick<AnalysedDevice, 'station'>,
    places: readonly Place[],
    open: OpenShard,
    signal: AbortSignal,
  ): TaskContext | Promise<TaskContext>
}

/** As long as its thread. */
export function createContexts(settings: WorkerSettings): Contexts {
  const localTimes = createLocalTimes()
  const local = localTimes(settings.timeZone)
  const { rowsMax } = settings
  const inUnits: TaskContext['inUnits'] = async further => further

  function ofPlaces(places: readonly Place[], open: OpenShard, signal: AbortSignal): TaskContext {
    return { ...sourcesOf(places, open), inUnits, local, signal, rowsMax }
  }

  return {
    local,
    shardsFor: createShards(settings),
    ofPlaces,
    of({ station }, places, open, signal) {
      if (station === undefined) return ofPlaces(places, open, signal)
      const { reader, connection } = open(onlyShard(places))
      return createStationContext(station, { reader, connection, localTimes, rowsMax }, signal)
    },
  }
}

function onlyShard([place, ...others]: readonly Place[]): number {
  if (place === undefined || others.length > 0) throw bug(`one shard is read, and not ${others.length + 1}`)
  return place.shard
}
