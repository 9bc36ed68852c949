/** Processes one file of a day in a thread at low priority: a file has millions of rows. */

import { parentPort, workerData } from 'node:worker_threads'
import type { QuestdbHttp } from '../../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { lowerThreadPriority } from '../../../store/thread-priority.ts'
import { type ArchivedName, archivedTables } from './archived-tables.ts'
import { type FileFacts, linesOf, readFacts, readRowKeys, writeWithout } from './day-file.ts'

export type DayFileTask = { table: ArchivedName; path: string } & (
  | { kind: 'facts' }
  /** Writes the file without the rows of these keys, or without rows that newer files have. */
  | { kind: 'without'; to: string; keys: readonly (string | number)[]; newer: readonly string[] }
  | { kind: 'restore'; http: QuestdbHttp }
)

/** `dropped` is the number of rows that were left out. */
export type DayFileResult = FileFacts & { dropped: number }

const writeTimeoutMs = 60_000
const task: DayFileTask = workerData
lowerThreadPriority('low')
parentPort?.postMessage(await run(task))

async function run(task: DayFileTask): Promise<DayFileResult> {
  const { path } = task
  const table = archivedTables[task.table]
  if (task.kind === 'without') {
    const { to, keys, newer } = task
    return await writeWithout(path, to, table, { keys, rows: await readRowKeys(newer, table) })
  }
  if (task.kind === 'restore') {
    const client = createQuestdbClient(task.http, 1)
    for await (const lines of linesOf(path, table)) await client.write(lines, writeTimeoutMs)
    client.close()
  }
  return { ...(await readFacts(path, table)), dropped: 0 }
}
