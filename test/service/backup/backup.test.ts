/** One walk with real databases: the contents of a backup, concurrent writes, and the state after a restore. */

import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { NewDevice } from '../../../auth/devices/device.ts'
import { openStations } from '../../../auth/stations/stations.ts'
import { openDisk } from '../../../ingest/journal/disk.ts'
import { Tombstones } from '../../../ingest/journal/tombstones.ts'
import { backUp } from '../../../service/backup/backup.ts'
import type { BackupParts } from '../../../service/backup/backup-parts.ts'
import { openDaySums } from '../../../service/backup/day-sums.ts'
import { type ManifestHead, readManifest, writeManifest } from '../../../service/backup/manifest.ts'
import { beginSnapshot, fillPostgres, refusalOf } from '../../../service/backup/postgres-tables.ts'
import { restore } from '../../../service/backup/restore.ts'
import { createEraseJobs } from '../../../service/lifecycle/erasure/erase-jobs.ts'
import { dayMs, openAcceptedFrom } from '../../../service/lifecycle/retention/horizon.ts'
import { openRetention } from '../../../service/lifecycle/retention/retention.ts'
import { createQuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { hourlyView } from '../../../store/tables.ts'
import { packageVersion } from '../../../store/version.ts'
import { openParts } from '../../support/admin.ts'
import { askQuestdb } from '../../support/ask-questdb.ts'
import { barograph } from '../../support/command-line.ts'
import { silentLog, startDatabases, storeOptions, temporaryFolder } from '../../support/databases.ts'
import { records } from '../../support/journal-parts.ts'
import { openGate } from '../../support/pg-gate.ts'
import { createTopics, letter } from '../../support/replica-topics.ts'
import { startService } from '../../support/service.ts'
import { waitFor } from '../../support/wait-for.ts'

const days = 3
const today = Math.floor(Date.now() / dayMs) * dayMs
const version = packageVersion()
const { directory, store } = await startDatabases(t)
await store.questdb.ready
const { ingest, pointsIngest, devices, metrics, journal, pointsJournal } = await openParts(t, store)
const ingests = { readings: ingest, points: pointsIngest }
for (const path of [ingest, pointsIngest]) path.startForwarding(store.questdb.address.http, true)
const client = createQuestdbClient(store.questdb.address.http)
t.teardown(() => client.close())
const exec = (sql: string) => client.exec(sql, 30_000)
const folders = { ...directory, journal, pointsJournal }
const parts: BackupParts = { directory: folders, store, ingest: ingests, reserveBytes: 0, version, log: silentLog }
const { signal } = new AbortController()
const run = { signal, closing: signal, onStep: () => undefined, bytes: new BigInt64Array(new SharedArrayBuffer(8)) }
const { directory: _, ...storeRest } = storeOptions(directory)
const restoreTo = (folder: string, dataDirectory: string) =>
  restore({ folder, dataDirectory, version, store: storeRest, onStep: () => undefined })
const newFolder = (name: string) => join(temporaryFolder(t), name)

const countOf = async (dataDirectory: string, sql: string) => Number((await askQuestdb(dataDirectory, sql))[0]?.[0])
const rowsOf: Record<string, string> = {
  readings: "INSERT INTO readings (ts, device, temperature) VALUES ('TIME', 'porch-1', 21.5)",
  points: "INSERT INTO points (ts, series, value, stored_at) VALUES ('TIME', 7, 12.25, '2026-05-03T00:00:00.000007Z')",
}

async function write(table: string, time: string): Promise<void> {
  const count = () => countOf(directory.path, `SELECT count() FROM ${table}`)
  const before = await count()
  await exec((rowsOf[table] ?? '').replace('TIME', time))
  await waitFor('the row is there', async () => (await count()) === before + 1)
}

t.test('rows after the start of the sums are not in them, and no connection is left', async t => {
  const gate = await openGate(t, store.questdb.address.pg)
  for (const table of Object.keys(rowsOf)) {
    t.strictSame(await (await openDaySums(gate.address, table)).read(), [], `${table} is empty`)
    for (const time of ['2026-05-02T00:00:00.000001Z', '2026-05-01T12:00:00.000000Z']) await write(table, time)
    const sums = await openDaySums(gate.address, table)
    for (const time of ['2026-04-30T00:00:00Z', '2026-05-01T13:00:00Z']) await write(table, time)
    const found = await sums.read()
    t.strictSame(
      found.map(([day, count, times]) => `${day} ${count} ${times}`),
      ['2026-05-01T00:00:00.000000Z 1 43200000000', '2026-05-02T00:00:00.000000Z 1 1'],
    )
    t.match(found[0], table === 'readings' ? { 3: '215000' } : { 3: '7', 4: '122500', 5: '7' })
    await exec(`TRUNCATE TABLE ${table}`)
    await waitFor('it is empty', async () => (await countOf(directory.path, `SELECT count() FROM ${table}`)) === 0)
    // A truncation makes the view invalid for minutes, for which an erase waits. A missing view is created at once, and the
    // truncation has to be applied by then.
    await exec(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
  }
  const leaving = new AbortController()
  const left = await openDaySums(gate.address, 'readings', leaving.signal)
  leaving.abort()
  await t.rejects(left.read())
  await t.rejects(openDaySums(gate.address, 'readings', leaving.signal))
  const closed = await openDaySums(gate.address, 'readings')
  await closed.close()
  await t.rejects(closed.read())
  await waitFor('every connection is closed', () => gate.connections() === 0)
})

const none = Number.NaN
const reading = { temperature: 20, humidity: 50, pressure: 1000, battery_voltage: none, battery_percentage: none }

async function addDevice(name: string) {
  await devices.add([NewDevice.parse({ name, location_desc: '"quotes", \\ and ünï' })], 'test')
  const device = devices.get(name)
  if (device === undefined) throw new Error('the device was not made')
  return device
}

const presentIn = (dataDirectory: string, { symbol }: { symbol: string }) =>
  countOf(dataDirectory, `SELECT count(temperature) FROM readings WHERE device = '${symbol}'`)

t.test('a reading becomes visible while the sums of a backup are still computed', async t => {
  const device = await addDevice('early')
  await ingest.accept(device, { timestampMs: undefined, ...reading })
  await waitFor('the first reading is visible', async () => (await presentIn(directory.path, device)) === 1)
  const gate = await openGate(t, store.questdb.address.pg)
  const steps: string[] = []
  const release = () => {
    gate.hold()
    pointsIngest.files?.release()
  }
  const holding = { ...pointsIngest, files: { hold: async () => await pointsIngest.files?.hold(), release } }
  const target = newFolder('backup')
  const gated = { ...store, questdb: { ...store.questdb, address: { ...store.questdb.address, pg: gate.address } } }
  const held = { ...parts, store: gated, ingest: { readings: ingest, points: holding } }
  const backup = backUp(target, held, { ...run, onStep: step => void steps.push(step) })
  await waitFor('the sums are under way', () => steps.includes('sums'))
  await ingest.accept(device, { timestampMs: undefined, ...reading })
  await waitFor('the second reading is visible', async () => (await presentIn(directory.path, device)) === 2)
  t.strictSame(steps, ['journals', 'sums'])
  gate.release()
  t.match(await backup, { rows: { readings: 1, points: 0 } })
  t.equal(readManifest(target).head.questdb.days['readings']?.[0]?.[1], '1', 'which is not in the sums')
})

/** Runs `work` after the journals and QuestDB were copied, and before PostgreSQL is. */
function partsWith(work: () => Promise<void>): BackupParts {
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
  return { ...parts, store: { ...store, connectPostgres } }
}

/** Devices with readings, one of whose days have expired, another one erased, and the work that erases more of them. */
async function fill() {
  const stations = openStations({ pool: store.postgres, nowMs: Date.now, log: silentLog })
  t.teardown(() => stations.close())
  const jobs = createEraseJobs({ devices, metrics, stations, ingest: ingests, store, log: silentLog })
  t.teardown(() => jobs.close())
  const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days, nowMs: Date.now })
  const porch = await addDevice('porch')
  for (let age = 1; age <= 6; age++) {
    await ingest.append(records(porch, [age, age + 1], (today - age * dayMs) * 1000, true))
  }
  const [kept, before, during] = [await addDevice('kept'), await addDevice('before'), await addDevice('during')]
  const measured = await addDevice('measured')
  await metrics.ensure([{ device: measured.number, field: 'co2' }], 'test')
  const series = metrics.series(measured.number, metrics.get('co2') ?? { id: 0 }) ?? 0
  const send = async (count: number, ...of: (typeof kept)[]) => {
    for (const device of of) {
      const custom = device === measured ? { custom: { series: [series], values: [400] } } : {}
      for (let index = 0; index < count; index++)
        await ingest.accept(device, { timestampMs: undefined, ...reading, ...custom })
    }
  }
  await send(3, kept, before, during, measured)
  await waitFor('all is applied', () => ingest.status().lag.rows === 0)
  // Raises the bound as a person confirms it.
  await acceptedFrom.raise(today - days * dayMs)
  const retention = openRetention({
    ...{ days, acceptedFrom, nowMs: Date.now, log: silentLog },
    replicas: [
      { number: 1, questdb: store.questdb, readings: { ...ingest.replicas[0], endOfAll: ingest.endOfAll }, exec },
    ],
    timing: { checkEveryMs: 50, marginMs: 0, graceMs: 0 },
  })
  t.teardown(() => retention.close())
  await waitFor('days have expired', () => retention.state().oldestDayMs === today - days * dayMs)
  const erase = async ({ name }: { name: string }) => {
    await jobs.request(name, 'test')
    await waitFor(`${name} is erased`, async () => (await jobs.report(name))?.state === 'done')
  }
  await erase(before)
  // Rows that only the journal has.
  await send(100, during, measured)
  const eraseMore = async () => {
    await erase(during)
    await jobs.requestMetric('measured', 'co2', 'test')
    await waitFor('co2 is erased', async () => (await jobs.metricReport('measured', 'co2'))?.state === 'done')
  }
  // The retention queries both databases twenty times a second.
  const stopWork = () => Promise.all([retention.close(), jobs.close()])
  return { kept, before, during, measured, series, retention, eraseMore, stopWork }
}

const target = newFolder('backup')
let filled: Awaited<ReturnType<typeof fill>>

t.test('a backup records concurrent erases and has the hours of expired readings', async t => {
  filled = await fill()
  const { kept, before, during, series, retention, eraseMore, stopWork } = filled
  const { topic, state } = await createTopics(store.postgres).openTopic()
  await state.commit(topic, 5, [letter(4, 1, [11])])
  await state.addTombstones(topic, [-7], 3)
  const { rows } = await retention.whileNoDayExpires(() => backUp(target, partsWith(eraseMore), run))
  await stopWork()
  t.match(rows, { readings_hours: 3, readings_expired: 3 })
  const { head, files } = readManifest(target)
  t.equal(head.postgres.eraseAgain.length, 2, 'those that ended during the backup')
  t.equal(head.questdb.days['readings_hours']?.length, 3)
  const firstDay = new Date(today - 6 * dayMs).toISOString().slice(0, 10)
  t.match(head.questdb.days['readings_hours']?.[0], [new RegExp(firstDay), '1'])
  const segments = readdirSync(join(target, 'journal')).filter(name => name.endsWith('.journal'))
  const isCopied = segments.some(name => readFileSync(join(target, 'journal', name)).includes(during.symbol))
  t.ok(isCopied, 'its records are in the copied journal')
  t.ok(files.some(({ path }) => path === 'journal/erased'))
  const tombstones = new Tombstones(openDisk(join(target, 'journal')))
  t.notOk(tombstones.covers(kept.number, 0))
  t.ok(tombstones.covers(before.number, 0))
  t.ok(tombstones.covers(during.number, tombstones.before - 1))
  t.ok(tombstones.covers(-series, 0))
  t.ok(tombstones.before > 0 && tombstones.before <= ingest.status().journal.end)
})

t.test('after a restore erased data stays gone, hours are shown, and expired days are refused', async t => {
  const { kept, before, during, measured, series } = filled
  const dataDirectory = newFolder('data')
  await restoreTo(target, dataDirectory)
  const service = await startService(t, { dataDirectory, environment: { RETENTION_DAYS: '300' } })
  const { url } = service
  const bodyOf = async (path: string) => (await service.admin('GET', path)).body
  for (const path of ['/devices/during/erase', '/devices/measured/metrics/co2'])
    await waitFor(`${path} is done again`, async () => ((await bodyOf(path)) as { state?: string }).state === 'done')
  await service.allShown()
  const present = (device: typeof kept) => presentIn(dataDirectory, device)
  t.strictSame([await present(kept), await present(before), await present(during)], [3, 0, 0])
  await waitFor('all its readings are there', async () => (await present(measured)) === 103)
  t.equal(await countOf(dataDirectory, `SELECT count(value) FROM measurements WHERE series = ${series}`), 0)

  const hours = async () => {
    const response = await fetch(`${url}/api/detail_data/porch`)
    const body = (await response.json()) as { last_30d_hourly?: { temperature: { count: number }[] } }
    return body.last_30d_hourly?.temperature.map(({ count }) => count)
  }
  await waitFor('it answers', async () => (await hours()) !== undefined)
  t.strictSame(await hours(), [2, 2, 2, 2, 2, 2])
  const oldest = new Date(today - days * dayMs).toISOString().slice(0, 10)
  const retention = { days: 300, oldest_day: oldest, expired_days: 0, last_run: String, fault: null }
  t.match(await bodyOf('/status'), { retention })
  const { body } = await service.admin('POST', '/devices/porch/rotate')
  const late = async (timestamp: number) => {
    const { password = '' } = body as { password?: string }
    const sent = { device: 'porch', temperature: 1, humidity: 2, pressure: 1000, timestamp }
    return (await service.put('porch', password, sent)).status
  }
  t.equal(await late(today - days * dayMs), 200)
  t.equal(await late(today - days * dayMs - 1), 400)

  const again = newFolder('backup')
  const environment = { DATA_DIR: dataDirectory, PORT: new URL(url).port }
  const backUpAgain = () => barograph(['backup', again], { environment })
  t.match(await backUpAgain(), { status: 0, stdout: /^backed up to .* files, / })
  t.strictSame(await askQuestdb(dataDirectory, 'SELECT in_progress FROM checkpoint_status()'), [[false]])
  t.match(readManifest(again).head.questdb.days['readings_hours'], { length: 3 })
  t.match(await backUpAgain(), { status: 1, stderr: /is not empty/ })
  await service.end('SIGTERM')
})

t.test('problems that only PostgreSQL detects are refused in a sentence without changes', async t => {
  const refuses = async (change: (postgres: ManifestHead['postgres']) => unknown, refusal: RegExp) => {
    const { postgres } = readManifest(target).head
    change(postgres)
    const error = await fillPostgres(store.connectPostgres, target, postgres).catch(refusalOf)
    t.match(error, { name: 'BackupError', message: refusal })
  }
  const tableOf = ({ tables }: ManifestHead['postgres']) => tables.find(({ name }) => name === 'devices')
  await refuses(of => Object.assign(tableOf(of) ?? {}, { rows: 77 }), /devices has \d+ rows, and had 77 in the backup/)
  await refuses(of => tableOf(of)?.columns.splice(0, 1, 'numbers'), /differ from its migrations/)
  const rename = (of: ManifestHead['postgres']) => Object.assign(of.sequences[0] ?? {}, { name: 'no_sequence' })
  await refuses(rename, /cannot be restored .*no_sequence/)
  t.ok((await store.postgres.query('SELECT FROM devices')).rowCount)
})

t.test('problems that only QuestDB detects are refused in a sentence without leftovers', async t => {
  const folder = newFolder('changed')
  cpSync(target, folder, { recursive: true })
  const { head, files } = readManifest(folder)
  head.questdb.days['readings_hours']?.[1]?.splice(-1, 1, '77')
  writeManifest(folder, { head, files })
  const root = temporaryFolder(t)
  const refused = await barograph(['restore', folder], { environment: { DATA_DIR: join(root, 'above', 'data') } })
  t.match(refused, { status: 1, stdout: '', stderr: /table readings_hours differs from/ })
  t.match(refused.stderr, /\nbarograph: [^\n]+\.\n$/)
  t.strictSame(readdirSync(root), [])
})

t.test('a refused manifest and a directory that is not empty stay unchanged', async t => {
  const folder = temporaryFolder(t)
  const head = '{"format":1}\n'
  const sha256 = createHash('sha256').update(head).digest('hex')
  writeFileSync(join(folder, 'manifest'), `${head}${JSON.stringify({ files: 0, sha256 })}\n`)
  const root = temporaryFolder(t)
  const refused = await barograph(['restore', folder], { environment: { DATA_DIR: join(root, 'above', 'data') } })
  t.match(refused, { status: 1, stdout: '', stderr: /^checking the backup\nbarograph: [^\n]+\.\n$/ })
  t.strictSame(readdirSync(root), [])
  writeFileSync(join(root, 'letters.txt'), 'mine')
  const full = await barograph(['restore', target], { environment: { DATA_DIR: root } })
  t.match(full, { status: 1, stderr: /is not empty/ })
  t.strictSame(readdirSync(root), ['letters.txt'])
})

t.test('the refusal of an external QuestDB says that its files are elsewhere', async t => {
  const external = { ...parts, store: { ...store, questdb: { ...store.questdb, managed: false } } }
  const folder = newFolder('backup')
  await t.rejects(backUp(folder, external, run), { name: 'BackupError', message: /QUESTDB_HTTP.*back up its server/ })
  t.notOk(existsSync(folder))
})

t.test('a backup is restored to an empty external PostgreSQL only', async t => {
  await store.postgres.query('CREATE DATABASE elsewhere')
  const { host = '', port, user = '', password } = store.postgres.options
  const address = { host, port, user, password: String(password), database: 'elsewhere' }
  const databaseUrl = `postgresql://${user}:${address.password}@${encodeURIComponent(host)}:${port}/elsewhere`
  const dataDirectory = newFolder('data')
  const options = {
    folder: target,
    version,
    store: { ...storeRest, databaseUrl },
    onStep: () => undefined,
    dataDirectory,
  }
  await restore(options)
  const copy = new pg.Client(address as pg.ClientConfig)
  await copy.connect()
  t.teardown(() => copy.end())
  for (const table of ['devices', 'replicas', 'replica_topics', 'replica_tombstones', 'replica_dead_letters']) {
    const text = `SELECT ${table}::text AS row FROM ${table} ORDER BY 1`
    const [original, copied] = [await store.postgres.query(text), await copy.query(text)]
    t.ok(original.rows.length > 0, table)
    t.strictSame(copied.rows, original.rows, table)
  }
  const next = "SELECT nextval(pg_get_serial_sequence('devices', 'number'))::int AS next"
  t.strictSame((await copy.query(next)).rows, (await store.postgres.query(next)).rows, 'sequences go on')
  const again = { ...options, dataDirectory: newFolder('data') }
  await t.rejects(restore(again), { message: /The database at DATABASE_URL has tables/ })
  const wrong = { ...again, store: { ...storeRest, databaseUrl: 'postgresql://127.0.0.1:9/x' } }
  await t.rejects(restore(wrong), { name: 'BackupError', message: /cannot be used/ })
  t.notOk(existsSync(again.dataDirectory))
})
