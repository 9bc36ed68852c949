/** What a thread uses for its queries: of a device its readings, of a station its points. */

import type { LocalTime } from '../analytics/time/local-time.ts'
import type { AnalysedDevice } from './analysed-device.ts'
import { createLocalTimes } from './local-times.ts'
import { createReplicaReads, type ReadsOf, type ReplicaReads } from './replica-reads.ts'
import { createStationContext } from './stations/station-context.ts'
import type { WorkerSettings } from './task.ts'
import type { TaskContext } from './task-context.ts'

export interface Contexts {
  /** Of the service. */
  readonly local: LocalTime
  readonly readsOf: ReadsOf
  ofReadings(reads: ReplicaReads, signal: AbortSignal): TaskContext
  of(
    device: Pick<AnalysedDevice, 'station'>,
    reads: ReplicaReads,
    signal: AbortSignal,
  ): TaskContext | Promise<TaskContext>
}

/** As long as its thread. */
export function createContexts(settings: WorkerSettings): Contexts {
  const localTimes = createLocalTimes()
  const local = localTimes(settings.timeZone)
  const { rowsMax } = settings
  const inUnits: TaskContext['inUnits'] = async further => further

  function ofReadings({ source, measurements }: ReplicaReads, signal: AbortSignal): TaskContext {
    return { source, measurements, inUnits, local, signal, rowsMax }
  }

  return {
    local,
    readsOf: createReplicaReads(settings),
    ofReadings,
    of({ station }, reads, signal) {
      if (station === undefined) return ofReadings(reads, signal)
      const { reader, connection } = reads
      return createStationContext(station, { reader, connection, localTimes, rowsMax }, signal)
    },
  }
}
