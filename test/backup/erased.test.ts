/** An erase that ends while a backup is made: its rows are in the copies of the journal and QuestDB, and stay gone. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { openStations } from '../../auth/stations/stations.ts'
import { backUp } from '../../backup/backup.ts'
import type { BackupParts } from '../../backup/backup-parts.ts'
import { readManifest } from '../../backup/manifest.ts'
import { beginSnapshot } from '../../backup/postgres-tables.ts'
import { restore } from '../../backup/restore.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { Tombstones } from '../../ingest/journal/tombstones.ts'
import { createEraseJobs } from '../../lifecycle/erasure/erase-jobs.ts'
import { openParts } from '../support/admin.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { silentLog, startDatabases, storeOptions, temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const { directory, store } = await startDatabases(t)
await store.questdb.ready
const { ingest, pointsIngest, devices, metrics, journal, pointsJournal } = await openParts(t, store)
const stations = openStations({ pool: store.postgres, nowMs: Date.now, log: silentLog })
t.teardown(() => stations.close())
for (const path of [ingest, pointsIngest]) path.startForwarding(store.questdb.address.http, true)
const ingests = { readings: ingest, points: pointsIngest }
const jobs = createEraseJobs({ devices, metrics, stations, ingest: ingests, store, log: silentLog })
t.teardown(() => jobs.close())

const none = Number.NaN
const reading = { temperature: 20, humidity: 50, pressure: 1000, battery_voltage: none, battery_percentage: none }
const symbols: Record<string, string> = {}
const numbers: Record<string, number> = {}

async function addDevice(name: string): Promise<void> {
  await devices.add([NewDevice.parse({ name })], 'test')
  symbols[name] = devices.get(name)?.symbol ?? ''
  numbers[name] = devices.get(name)?.number ?? 0
}

async function log(name: string, count: number): Promise<void> {
  const device = devices.get(name)
  if (device === undefined) throw new Error(`no device ${name}`)
  for (let index = 0; index < count; index++) await ingest.accept(device, { timestampMs: undefined, ...reading })
}

/** A value of a further metric with each reading. */
async function measure(name: string, count: number): Promise<number> {
  const device = devices.get(name)
  if (device === undefined) throw new Error(`no device ${name}`)
  await metrics.ensure([{ device: device.number, field: 'co2' }], 'test')
  const series = metrics.series(device.number, metrics.get('co2') ?? { id: 0 }) ?? 0
  const further = { series: [series], values: [400] }
  for (let index = 0; index < count; index++)
    await ingest.accept(device, { timestampMs: undefined, ...reading, further })
  return series
}

async function eraseMetric(name: string): Promise<void> {
  await jobs.requestMetric(name, 'co2', 'test')
  await until(`co2 of ${name} is erased`, async () => (await jobs.metricReport(name, 'co2'))?.state === 'done')
}

async function erase(name: string): Promise<void> {
  await jobs.request(name, 'test')
  await until(`${name} is erased`, async () => (await jobs.report(name))?.state === 'done')
}

const present = async (dataDirectory: string, name: string): Promise<unknown> => {
  const [row] = await askQuestdb(
    dataDirectory,
    `SELECT count(temperature) FROM readings WHERE device = '${symbols[name]}'`,
  )
  return row?.[0]
}

/** Runs `work` after the journals and QuestDB were copied, and before PostgreSQL is. */
function backupParts(work: () => Promise<void>): BackupParts {
  const connectPostgres: BackupParts['store']['connectPostgres'] = async () => {
    const client = await store.connectPostgres()
    const query = client.query.bind(client) as (...words: unknown[]) => unknown
    const hooked = async (...words: unknown[]) => {
      await work()
      return query(...words)
    }
    client.query = ((...words: unknown[]) => (words[0] === beginSnapshot ? hooked(...words) : query(...words))) as never
    return client
  }
  return {
    directory: { ...directory, journal, pointsJournal },
    store: { ...store, connectPostgres },
    ingest: ingests,
    reserveBytes: 0,
    version: '0.1.0',
    log: silentLog,
  }
}

t.test('what is erased during a backup is not readable after the restore', async t => {
  for (const name of ['kept', 'before', 'during']) await addDevice(name)
  for (const name of ['kept', 'before', 'during']) await log(name, 3)
  await until('they are there', async () => (await present(directory.path, 'during')) === 3)
  await erase('before')
  const target = join(temporaryFolder(t), 'backup')
  const { signal } = new AbortController()
  const parts = backupParts(() => erase('during'))
  // Rows that only the journal has.
  await log('during', 100)
  await backUp(target, parts, {
    signal,
    closing: signal,
    onStep: () => undefined,
    bytes: new BigInt64Array(new SharedArrayBuffer(8)),
  })
  const { head, files } = readManifest(target)
  t.equal(head.postgres.eraseAgain.length, 1, 'the one that ended during the backup')
  const segments = readdirSync(join(target, 'journal')).filter(name => name.endsWith('.journal'))
  const isCopied = segments.some(name => readFileSync(join(target, 'journal', name)).includes(symbols['during'] ?? ''))
  t.ok(isCopied, 'its records are in the copied journal')
  t.ok(files.some(({ path }) => path === 'journal/erased'))
  const tombstones = new Tombstones(openDisk(join(target, 'journal')))
  const lastPosition = ingest.status().journal.end - 1
  t.notOk(tombstones.covers(numbers['kept'] ?? 0, 0))
  t.ok(tombstones.covers(numbers['before'] ?? 0, 0))
  t.ok(tombstones.covers(numbers['during'] ?? 0, tombstones.before - 1))
  t.ok(tombstones.before > 0 && tombstones.before <= lastPosition + 1)

  const dataDirectory = join(temporaryFolder(t), 'data')
  const { directory: _, ...storeRest } = storeOptions(directory)
  await restore({ folder: target, dataDirectory, version: '0.1.0', store: storeRest, onStep: () => undefined })
  const service = await startService(t, { dataDirectory })
  await until('the job has ended again', async () => {
    const { body } = await service.admin('GET', '/devices/during/erase')
    return (body as { state?: string }).state === 'done'
  })
  await until('the journal is forwarded', async () => {
    const { body } = await service.admin('GET', '/status')
    return (body as { lag: { readings: number } }).lag.readings === 0
  })
  t.equal(await present(dataDirectory, 'during'), 0)
  t.equal(await present(dataDirectory, 'before'), 0)
  t.equal(await present(dataDirectory, 'kept'), 3)
})

t.test('a metric that is erased during a backup is not readable after the restore, and its readings are', async t => {
  await addDevice('measured')
  const series = await measure('measured', 3)
  const values = async (dataDirectory: string) =>
    (await askQuestdb(dataDirectory, `SELECT count(value) FROM measurements WHERE series = ${series}`))[0]?.[0]
  await until('they are there', async () => (await values(directory.path)) === 3)
  const target = join(temporaryFolder(t), 'backup')
  const { signal } = new AbortController()
  const parts = backupParts(() => eraseMetric('measured'))
  await measure('measured', 100)
  await backUp(target, parts, {
    signal,
    closing: signal,
    onStep: () => undefined,
    bytes: new BigInt64Array(new SharedArrayBuffer(8)),
  })
  t.equal(readManifest(target).head.postgres.eraseAgain.length, 1)
  t.ok(new Tombstones(openDisk(join(target, 'journal'))).covers(-series, 0))
  const dataDirectory = join(temporaryFolder(t), 'data')
  const { directory: _, ...storeRest } = storeOptions(directory)
  await restore({ folder: target, dataDirectory, version: '0.1.0', store: storeRest, onStep: () => undefined })
  const service = await startService(t, { dataDirectory })
  await until('the job has ended again', async () => {
    const { body } = await service.admin('GET', '/devices/measured/metrics/co2')
    return (body as { state?: string }).state === 'done'
  })
  await until('all readings are there', async () => (await present(dataDirectory, 'measured')) === 103)
  t.equal(await values(dataDirectory), 0)
})
