/** The thread of the exports: it reads over its own connections and hands back finished pieces. */

import { workerData } from 'piscina'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { createColumnsReader } from '../questdb/columns-reader.ts'
import { runTask } from '../run-task.ts'
import type { Task, TaskResult, WorkerSettings } from '../task.ts'
import { type Count, createNamesReader, type ExportQueries, type Footer, type Piece } from './export-queries.ts'
import { countRows, readPiece } from './export-rows.ts'
import { writeLines } from './export-texts.ts'
import { parquetFooter, writeRowGroups } from './parquet-file.ts'

// An export lasts, and nobody waits for its next line.
lowerThreadPriority('low')
const settings: WorkerSettings = workerData
const connection = createPgConnection(settings.questdb.pg, settings)
const reader = createColumnsReader(settings, connection)
const readNames = createNamesReader()

export function piece(task: Task<ExportQueries['piece']>): Promise<TaskResult<Piece>> {
  const { format, names, rowsMax, fileOffset } = task
  return runTask(task, async signal => {
    const { rows, nextUs } = await readPiece(reader, task, rowsMax, signal)
    const written =
      format === 'parquet'
        ? await writeRowGroups(rows, readNames(names), fileOffset)
        : { bytes: writeLines(format, rows, readNames(names)) }
    return { ...written, rowsRead: rows.order.length, nextUs, nextOffset: fileOffset + written.bytes.length }
  })
}

export function count(task: Task<ExportQueries['count']>): Promise<TaskResult<Count>> {
  return runTask(task, async signal => ({ rows: await countRows(connection, task, signal) }))
}

export function footer(task: Task<ExportQueries['footer']>): Promise<TaskResult<Footer>> {
  return runTask(task, async () => ({ bytes: await parquetFooter(task.rowGroups, task.fileOffset) }))
}
