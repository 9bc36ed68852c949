/** What a thread uses for its queries: of a device its readings, of a station its points. */

import type { LocalTime } from '../analytics/time/local-time.ts'
import { createPgConnection, type PgConnection } from '../store/questdb/client/questdb-pg.ts'
import type { AnalysedDevice } from './analysed-device.ts'
import { createLocalTimes } from './local-times.ts'
import { createColumnsReader } from './questdb/columns-reader.ts'
import { createMeasurementsSource } from './questdb/measurements-source.ts'
import { createReadingsSource } from './questdb/readings-source.ts'
import { createStationContext } from './stations/station-context.ts'
import type { WorkerSettings } from './task.ts'
import type { TaskContext } from './task-context.ts'

export interface Contexts {
  readonly connection: PgConnection
  /** Of the service. */
  readonly local: LocalTime
  /** Of devices. */
  readonly source: TaskContext['source']
  ofDevices(signal: AbortSignal): TaskContext
  of(device: Pick<AnalysedDevice, 'station'>, signal: AbortSignal): TaskContext | Promise<TaskContext>
}

/** As long as its thread. */
export function createContexts(settings: WorkerSettings): Contexts {
  const connection = createPgConnection(settings.questdb.pg, settings)
  const source = createReadingsSource(settings, connection)
  const measurements = createMeasurementsSource(settings, connection)
  const reader = createColumnsReader(settings, connection)
  const localTimes = createLocalTimes()
  const local = localTimes(settings.timeZone)
  const { rowsMax } = settings
  const inUnits: TaskContext['inUnits'] = async further => further
  const ofDevices = (signal: AbortSignal): TaskContext => ({ source, measurements, inUnits, local, signal, rowsMax })
  return {
    connection,
    local,
    source,
    ofDevices,
    of({ station }, signal) {
      if (station === undefined) return ofDevices(signal)
      return createStationContext(station, { reader, connection, localTimes, rowsMax }, signal)
    },
  }
}
