/** The data sources of a thread: its connections, and a device's readings or a station's points. */

import { createLocalTimes, type LocalTime, type LocalTimes } from '../analytics/time/local-time.ts'
import { bug } from '../store/limits/bug.ts'
import { createPgConnection, type PgConnection } from '../store/questdb/client/questdb-pg.ts'
import type { AnalysedDevice, Station } from './analysed-device.ts'
import { createValuesSource, type MeasurementsSource } from './questdb/measurements-source.ts'
import { type ColumnsReader, createColumnsReader } from './questdb/questdb-export.ts'
import { createReadingsSource, type ReadingsSource } from './questdb/readings-source.ts'
import { measurementValues } from './questdb/values-table.ts'
import { inShownUnit, leftOutOf, sumOf } from './stations/point-units.ts'
import { createStationTimes } from './stations/station-times.ts'
import { readStationUnits } from './stations/unit-reads.ts'
import type { Task, WorkerSettings } from './task.ts'
import type { InUnits, TaskContext } from './task-context.ts'

export interface Contexts {
  /** Local time of the service. */
  readonly local: LocalTime
  readonly readsOf: ReadsOf
  ofReadings(reads: ReplicaReads, signal: AbortSignal): TaskContext
  of(
    device: Pick<AnalysedDevice, 'station'>,
    reads: ReplicaReads,
    signal: AbortSignal,
  ): TaskContext | Promise<TaskContext>
}

/** Lives as long as its thread. */
export function createContexts(settings: WorkerSettings): Contexts {
  const localTimes = createLocalTimes()
  const local = localTimes(settings.timeZone)
  const { rowsMax } = settings
  const inUnits: TaskContext['inUnits'] = async custom => custom

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

interface StationReads {
  readonly reader: Pick<ColumnsReader, 'read'>
  readonly connection: Pick<PgConnection, 'read'>
  readonly localTimes: LocalTimes
  readonly rowsMax: number
}

/** The context of a query of a station: it reads points in place of readings, in the units that they are shown in. */
async function createStationContext(
  station: Station,
  { reader, connection, localTimes, rowsMax }: StationReads,
  signal: AbortSignal,
): Promise<TaskContext> {
  const numbers = station.series.map(({ number }) => number)
  const { shown, table, countIn } = await readStationUnits(connection, numbers, signal)

  const inUnits: InUnits = async (custom, ranges) => {
    const counts = await countIn(ranges)
    return custom.flatMap(metric => {
      const { series } = metric
      const unit = series === undefined ? undefined : shown.get(series)
      // The station does not measure this parameter.
      if (series === undefined || unit === undefined) return []
      return [inShownUnit(metric, unit, sumOf(leftOutOf(counts.get(series) ?? {}, unit)))]
    })
  }

  return {
    source: createStationTimes(reader, connection, table, numbers),
    measurements: createValuesSource(reader, connection, table),
    inUnits,
    local: localTimes(station.timeZone),
    rowsMax,
    signal,
  }
}

export interface ReplicaReads {
  readonly connection: Pick<PgConnection, 'read'>
  readonly reader: Pick<ColumnsReader, 'read'>
  readonly source: ReadingsSource
  readonly measurements: MeasurementsSource
}

type ReadsOf = (task: Pick<Task<object>, 'replica'>) => ReplicaReads

/** Serves one task after the other, and lives as long as its thread. */
export function createReplicaReads(settings: WorkerSettings): ReadsOf {
  const opened = new Map<number, ReplicaReads>()
  return ({ replica }) => {
    const reads = opened.get(replica) ?? openReads(settings, replica)
    opened.set(replica, reads)
    return reads
  }
}

function openReads(settings: WorkerSettings, replica: number): ReplicaReads {
  const questdb = settings.replicas[replica - 1]
  if (questdb === undefined) throw bug(`unknown replica ${replica}`)
  const connection = createPgConnection(questdb.pg, settings)
  // One reader for each source, so that a task may query them in parallel.
  const openReader = () => createColumnsReader({ ...settings, questdb }, connection)
  return {
    connection,
    reader: openReader(),
    source: createReadingsSource(openReader(), connection),
    measurements: createValuesSource(openReader(), connection, measurementValues),
  }
}
