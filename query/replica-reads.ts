/** A thread's connections to the replicas of QuestDB, opened when a task first reads one. */

import { bug } from '../store/limits/bug.ts'
import { createPgConnection, type PgConnection } from '../store/questdb/client/questdb-pg.ts'
import { type ColumnsReader, createColumnsReader } from './questdb/columns-reader.ts'
import { createValuesSource, type MeasurementsSource } from './questdb/measurements-source.ts'
import { createReadingsSource, type ReadingsSource } from './questdb/readings-source.ts'
import { measurementValues } from './questdb/values-table.ts'
import type { Task, WorkerSettings } from './task.ts'

export interface ReplicaReads {
  readonly connection: Pick<PgConnection, 'read'>
  readonly reader: Pick<ColumnsReader, 'read'>
  readonly source: ReadingsSource
  readonly measurements: MeasurementsSource
}

export type ReadsOf = (task: Pick<Task<object>, 'replica'>) => ReplicaReads

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
