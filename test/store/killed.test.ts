/** The next start cleans up the leftovers of a killed server without a question. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { DataDirectory } from '../../store/data-directory.ts'
import { recordedServer } from '../../store/process/server-process.ts'
import { createQuestdbClient, type QuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { openQuestdb } from '../../store/questdb/questdb.ts'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { ensureExpiryTables } from '../../store/questdb/questdb-tables.ts'
import { expiredDaysTable, readingsTable } from '../../store/tables.ts'
import { openTestDirectory, storeOptions, temporaryFolder } from '../support/databases.ts'
import { isRunning, until } from '../support/processes.ts'
import { comesUp, startThenKill } from './killed-store.ts'

/** The limit only ends a hang. */
const timeoutMs = 600_000

test('the databases of a killed server end with it and start again', async t => {
  const path = join(temporaryFolder(t), 'data')
  const pids = await startThenKill(t, path)
  t.ok(pids.length > 2, 'the watchdogs and the processes of PostgreSQL are among them')
  await until('nothing of it is left', () => !pids.some(isRunning))
  const postgresLog = readFileSync(join(path, 'postgres', 'postgres.log'), 'utf8')
  t.match(postgresLog, 'received fast shutdown request', 'PostgreSQL was asked to shut down in an orderly way first')
  await comesUp(t, path)
})

test('a pid alone is not enough to be taken for our server', async t => {
  const folder = temporaryFolder(t)
  const record = join(folder, 'process')
  // This very process stands in for a server, and the first word of its command line for the directory.
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const directory = readFileSync('/proc/self/cmdline', 'utf8').split('\0')[0] ?? ''
  writeFileSync(record, stat)
  t.equal(recordedServer(record, directory), process.pid, 'all three fit')
  t.equal(recordedServer(record, join(folder, 'data')), undefined, 'another directory')
  // The start time is the 22nd field. The name in the second one has no space here.
  const fields = stat.split(' ')
  fields[21] = String(Number(fields[21]) - 1)
  writeFileSync(record, fields.join(' '))
  t.equal(recordedServer(record, directory), undefined, 'another start time')
  writeFileSync(record, '')
  t.equal(recordedServer(record, directory), undefined, 'a record that was cut off')
  t.equal(recordedServer(join(folder, 'none'), directory), undefined, 'no record')
})

/** Runs the managed QuestDB of the data directory for as long as the work takes. */
async function duringQuestdb<Result>(
  directory: DataDirectory,
  work: (client: QuestdbClient) => Promise<Result>,
): Promise<Result> {
  const questdb = await openQuestdb(storeOptions(directory), new AbortController().signal)
  const client = createQuestdbClient(questdb.address.http)
  try {
    await questdb.ready
    return await work(client)
  } finally {
    client.close()
    await questdb.close()
  }
}

const countOf = async (client: QuestdbClient, table: string) =>
  (await client.exec(`SELECT count() FROM ${table}`, timeoutMs))[0]?.[0]
const untilThere = (client: QuestdbClient, table: string) =>
  until('the row is there', async () => (await countOf(client, table)) === 1)

test('QuestDB killed in its first start or while creating our table starts from scratch, except with rows', async t => {
  const path = join(temporaryFolder(t), 'data')
  const directory = openTestDirectory(t, path)
  const insert = `INSERT INTO ${readingsTable} (ts, device, temperature) VALUES (now(), 'a', 1)`
  const tables = join(directory.questdb, 'root', 'db')
  // A kill in the middle of the first start leaves this folder. QuestDB then always ends with "name is reserved".
  mkdirSync(join(tables, 'telemetry_config'), { recursive: true })
  const [ours = ''] = await duringQuestdb(directory, async () =>
    readdirSync(tables).filter(name => /^readings~\d+$/.test(name)),
  )
  t.ok(existsSync(join(directory.questdb, 'root-unfinished', 'db', 'telemetry_config')), 'it is kept aside')
  // A kill may leave it so far: each row is rejected, because a file is missing.
  rmSync(join(tables, ours, 'txn_seq'), { recursive: true })
  await duringQuestdb(directory, client => client.exec(insert, timeoutMs))
  await duringQuestdb(directory, client => untilThere(client, readingsTable))
})

test('a QuestDB whose only rows are expired days is kept', async t => {
  const directory = openTestDirectory(t)
  await duringQuestdb(directory, async client => {
    await ensureExpiryTables(client)
    await client.exec(`INSERT INTO ${expiredDaysTable} VALUES ('2026-01-01', 1, 1)`, timeoutMs)
    await untilThere(client, expiredDaysTable)
  })
  // The write-ahead log is removed when it is applied. The partition stays.
  const tables = join(questdbRoot(directory), 'db')
  const [folder = ''] = readdirSync(tables).filter(name => name.startsWith(`${expiredDaysTable}~`))
  const files = join(tables, folder)
  for (const name of readdirSync(files)) if (/^wal/.test(name)) rmSync(join(files, name), { recursive: true })
  t.equal(await duringQuestdb(directory, client => countOf(client, expiredDaysTable)), 1)
  t.notOk(existsSync(`${questdbRoot(directory)}-unfinished`))
})
