/** A thread of the exports: it reads over its own connections and hands back finished pieces. */

import { workerData } from 'piscina'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { createReplicaReads } from '../contexts.ts'
import { runTask, type Task, type TaskResult } from '../task.ts'
import { readBuckets } from './bucket-rows.ts'
import {
  type Count,
  createNamesReader,
  type ExportQueries,
  type ExportSettings,
  type Footer,
  type Piece,
} from './export-queries.ts'
import { countRows, readRows } from './export-rows.ts'
import { writeTexts } from './export-texts.ts'
import { parquetFooter, writeRowGroups } from './parquet-file.ts'
import { columnsOf, metricsByDevice } from './series-table.ts'

const settings: ExportSettings = workerData
lowerThreadPriority(settings.priority)
const readsOf = createReplicaReads(settings)
const readNames = createNamesReader()

export function piece(task: Task<ExportQueries['piece']>): Promise<TaskResult<Piece>> {
  const { layout, stepUs, metrics, series, rowsMax, fileOffset, isFirst } = task
  return runTask(task, async signal => {
    const { connection, reader } = readsOf(task)
    const { rows, readingsRead, nextUs } =
      stepUs === undefined
        ? await readRows(reader, task, rowsMax, signal)
        : await readBuckets(reader, task, stepUs, rowsMax, signal)
    const columns = columnsOf(stepUs, metrics)
    const names = readNames(task.names)
    const written =
      layout === 'parquet'
        ? await writeRowGroups(columns, rows, names, fileOffset)
        : { bytes: writeTexts(layout, columns, rows, names, metricsByDevice(series, metrics, new Set(rows.devices))) }
    const counted = { ...task, fromUs: nextUs ?? task.fromUs }
    const count = isFirst ? await countRows(connection, counted, signal) : undefined
    return { ...written, readingsRead, count, nextUs, nextOffset: fileOffset + written.bytes.length }
  })
}

export function count(task: Task<ExportQueries['count']>): Promise<TaskResult<Count>> {
  return runTask(task, async signal => ({ rows: await countRows(readsOf(task).connection, task, signal) }))
}

export function footer(task: Task<ExportQueries['footer']>): Promise<TaskResult<Footer>> {
  const { stepUs, metrics, rowGroups, fileOffset } = task
  return runTask(task, async () => ({ bytes: await parquetFooter(columnsOf(stepUs, metrics), rowGroups, fileOffset) }))
}
