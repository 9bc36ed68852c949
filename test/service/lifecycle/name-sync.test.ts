/** The names of the devices in QuestDB follow the registry through faults of either. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { type NamedDevice, NewDevice } from '../../../auth/devices/device.ts'
import { openDevices } from '../../../auth/devices/devices.ts'
import { openStations } from '../../../auth/stations/stations.ts'
import { createEraseJobs } from '../../../service/lifecycle/erasure/erase-jobs.ts'
import { deviceNames, openNameCopy, seriesNames } from '../../../service/lifecycle/name-sync/name-sync.ts'
import {
  deviceNamesTable,
  namedMeasurementsView,
  namedReadingsView,
  readingsTable,
  seriesNamesTable,
} from '../../../store/tables.ts'
import { openParts } from '../../support/admin.ts'
import { recordingLog, silentLog, type TestHooks } from '../../support/databases.ts'
import { until } from '../../support/processes.ts'
import { startLentDatabases } from '../../support/worker-questdb.ts'

const { store } = await startLentDatabases(t)
const { questdb } = store
const { ingest, pointsIngest, devices, metrics } = await openParts(t, store)
for (const path of [ingest, pointsIngest]) path.startForwarding(questdb.address.http, true)
const stations = openStations({ pool: store.postgres, nowMs: Date.now, log: silentLog })
t.teardown(() => stations.close())
const reader = new pg.Client({ ...questdb.address.pg, ssl: false })
await reader.connect()
t.teardown(() => reader.end())

const checkEveryMs = 10
type Options = Parameters<typeof openNameCopy<NamedDevice>>[0]
const source = deviceNames(devices)
const start = (hooks: TestHooks, options: Partial<Options> = {}) => {
  const names = openNameCopy({ source, questdb, log: silentLog, checkEveryMs, ...options })
  hooks.teardown(() => names.close())
  return names
}

function openJobs(hooks: TestHooks, options: Partial<Parameters<typeof createEraseJobs>[0]>) {
  const parts = { devices, metrics, stations, ingest: { readings: ingest, points: pointsIngest }, store }
  const jobs = createEraseJobs({ ...parts, log: silentLog, ...options })
  hooks.teardown(() => jobs.close())
  return jobs
}

async function add(...given: { name: string; location_short?: string }[]): Promise<void> {
  const made = given.map(device => NewDevice.parse(device))
  const added = await devices.add(made, 'test')
  if (!added.ok) throw new Error(added.code)
}

async function rows(sql: string): Promise<unknown[][]> {
  return (await reader.query({ text: sql, rowMode: 'array' })).rows
}

const namesOf = `SELECT device, name, location_short FROM ${deviceNamesTable}`
const present = () => rows(`${namesOf} WHERE name IS NOT NULL ORDER BY ts`)
const registered = () =>
  devices
    .all()
    .toSorted((a, b) => a.number - b.number)
    .map(({ symbol, name, location_short }) => [symbol, name, location_short])

async function untilSame(what: string): Promise<void> {
  const wanted = JSON.stringify(registered())
  // The table may just be made.
  await until(what, async () => JSON.stringify(await present().catch(() => [])) === wanted)
}

const hostile = [
  `"; DROP TABLE ${readingsTable}; --`,
  "Bobby'); DROP TABLE readings;--",
  'back\\slash \\" quote',
  'a,b=c d',
  'Küche 🌡 日本',
  '-- x',
  '$1',
]

t.test('names come and go with the devices, as the text that they are', async t => {
  await add({ name: 'porch', location_short: 'Porch' }, ...hostile.map(name => ({ name, location_short: name })))
  start(t)
  await untilSame('all names are there')
  t.equal((await present()).length, 8)
  await add({ name: 'cellar' })
  await devices.change('porch', { name: 'veranda', location_short: 'Garden "west"' }, 'test')
  await devices.remove(devices.get(hostile[0] ?? '')?.number ?? 0, 'test')
  await untilSame('the changes are there')
  const last = await rows(`${namesOf} WHERE name = 'veranda'`)
  t.strictSame(last, [['porch-1', 'veranda', 'Garden "west"']])
  t.strictSame(await rows(`SELECT count() FROM ${readingsTable}`), [['0']], 'the tables are there')
})

t.test('a view has the readings with the names', async t => {
  start(t)
  await untilSame('the names are there')
  await rows(
    `INSERT INTO ${readingsTable} (ts, device, temperature) VALUES ('2026-01-01T10:00:00Z', 'porch-1', 20), ('2026-01-01T10:01:00Z', 'gone-77', 21)`,
  )
  const sql = `SELECT device, name, location_short, temperature FROM ${namedReadingsView} WHERE ts IN '2026-01-01'`
  await until('they are visible', async () => (await rows(sql)).length === 2)
  t.strictSame(await rows(`${sql} ORDER BY ts`), [
    ['porch-1', 'veranda', 'Garden "west"', 20],
    ['gone-77', null, null, 21],
  ])
  const plan = (await rows(`EXPLAIN ${sql} AND device = 'porch-1'`)).join('\n')
  t.match(plan, /Interval forward scan on: readings/, 'of the readings only those of the time are read')
  t.match(plan, /filter: device='porch-1'/, 'and of the device')
})

t.test('only changes are sent, also by the next process', async t => {
  const asked: number[] = []
  const namesSince = async (sequence: number, rowsMax: number) => {
    const found = await devices.namesSince(sequence, rowsMax)
    asked.push(found.length)
    return found
  }
  const names = start(t, { source: deviceNames({ ...devices, namesSince }) })
  await names.sync()
  t.strictSame(asked, [0])
  await devices.change('veranda', { location_short: '' }, 'test')
  await untilSame('the change is there')
  t.strictSame(
    asked.filter(count => count > 0),
    [1],
  )
})

t.test('many come page by page', async t => {
  await add(...Array.from({ length: 2500 }, (_, index) => ({ name: `sensor ${index}` })))
  await start(t).sync()
  await untilSame('all are there')
})

t.test('an inconsistent table is rebuilt', async t => {
  const first = openNameCopy({ source, questdb, log: silentLog, checkEveryMs })
  await first.sync()
  await first.close()
  // A restore leaves PostgreSQL older than QuestDB.
  await rows(
    `INSERT INTO ${deviceNamesTable} VALUES (cast(10000000 AS TIMESTAMP), 'porch-1', 'from the future', '', 1000000000)`,
  )
  await until('it is there', async () => (await present()).some(([, name]) => name === 'from the future'))
  start(t)
  await untilSame('the table is that of the registry')
  t.strictSame(await rows(`SELECT name FROM ${namedReadingsView} WHERE ts IN '2026-01-01' AND device = 'porch-1'`), [
    ['veranda'],
  ])
})

t.test('only the leading process copies, and one with an older state rebuilds nothing', async t => {
  const behind = await openDevices({ pool: store.postgres, now: Date.now, log: silentLog, graceMs: 0 })
  t.teardown(() => behind.close())
  const tableId = () => rows(`SELECT id FROM tables() WHERE table_name = '${deviceNamesTable}'`)
  let leader = 'first'
  const first = start(t, { leads: () => leader === 'first' })
  const second = start(t, { source: deviceNames(behind), leads: () => leader === 'second' })
  const rejected = { message: 'another node copies the names' }
  await t.rejects(second.sync(), rejected)
  await add({ name: 'barn' })
  await first.sync()
  await untilSame('the new one is there')
  const before = await tableId()
  leader = 'second'
  await t.rejects(first.sync(), rejected)
  await second.sync()
  t.strictSame(await tableId(), before)
  await devices.change('barn', { location_short: 'Hill' }, 'test')
  await second.sync()
  await untilSame('the one that leads now copies')
  leader = 'first'
  await devices.change('barn', { location_short: 'Hilltop' }, 'test')
  await untilSame('and the first one again')
})

t.test('an unavailable QuestDB gets names later, with one log line', async t => {
  let state: 'up' | 'away' = 'up'
  const { log, texts } = recordingLog('warn')
  const address = { ...questdb.address, http: { ...questdb.address.http, port: 9 } }
  const lost = openNameCopy({ source, log, checkEveryMs, questdb: { address, state: () => ({ state }) } })
  await until('it has tried', () => texts.length > 0)
  await sleep(10 * checkEveryMs)
  t.strictSame(texts, ['names not copied to QuestDB, retrying'])
  await t.rejects(lost.sync(), { code: 'NOT_LISTENING' })
  await lost.close()

  let asked = 0
  const counted = () => {
    asked++
    return { state }
  }
  const seenAway = async () => {
    const before = asked
    await until('it has seen that QuestDB is away', () => asked > before + 1)
  }
  state = 'away'
  start(t, { questdb: { ...questdb, state: counted } })
  await rows(`DROP TABLE ${deviceNamesTable}`)
  state = 'up'
  await untilSame('they are there again')
  state = 'away'
  await seenAway()
  await rows(`DROP TABLE ${deviceNamesTable}`)
  state = 'up'
  await untilSame('the new table has them without a change')
})

t.test('an erased device leaves no name behind, also when rows come back', async t => {
  const secret = 'Annas Schlafzimmer'
  await add({ name: secret, location_short: 'bei Anna oben' })
  const names = start(t, { checkEveryMs: 3_600_000 })
  await names.sync()
  await untilSame('its name is there')
  const jobs = openJobs(t, { syncNames: names.sync })
  const device = devices.get(secret)
  await jobs.request(secret, 'test')
  await until('it is erased', async () => (await jobs.report(secret))?.state === 'done')
  t.strictSame(await present(), registered())
  t.strictSame(
    await rows(`SELECT name, location_short FROM ${deviceNamesTable} WHERE device = '${device?.symbol}'`),
    [[null, null]],
    'there is a row without a text',
  )
  // A table that has lost the last transactions.
  await rows(
    `INSERT INTO ${deviceNamesTable} VALUES (cast(${(device?.number ?? 0) * 10_000_000} AS TIMESTAMP), '${device?.symbol}', 'again', 'x', 1)`,
  )
  await until('it is there', async () => (await present()).some(([, name]) => name === 'again'))
  openJobs(t, { store: { ...store, questdb: { ...questdb, commitMode: () => undefined } } })
  await untilSame('it is gone again')
})

t.test('a series is copied with its metric and removed when its values are erased', async t => {
  const cellar = devices.get('cellar')?.number ?? 0
  const sensor = devices.get('sensor 1')?.number ?? 0
  const send = (device: number, field: string) => metrics.ensure([{ device, field }], 'test')
  await send(cellar, 'co2')
  const names = openNameCopy({ source: seriesNames(metrics), questdb, log: silentLog, checkEveryMs })
  t.teardown(() => names.close())
  const present = () =>
    rows(`SELECT device, metric FROM ${seriesNamesTable} WHERE metric IS NOT NULL ORDER BY ts`).catch(() => [])
  const untilNamed = (wanted: string[][]) =>
    until(JSON.stringify(wanted), async () => JSON.stringify(await present()) === JSON.stringify(wanted))
  const symbol = (number: number) => devices.byNumber(number)?.symbol ?? ''
  const ofFirst = [symbol(cellar), 'co2']
  const ofSecond = [symbol(sensor), 'co2']
  const wind = [symbol(cellar), 'wind_speed']
  await untilNamed([ofFirst])
  await send(sensor, 'co2')
  await send(cellar, 'wind_speed')
  const series = metrics.series(cellar, metrics.get('wind_speed') ?? { id: 0 })
  await untilNamed([ofFirst, ofSecond, wind])
  await rows(
    `INSERT INTO measurements VALUES ('2026-01-01T10:00:00Z', ${series}, 300), ('2026-01-01T11:00:00Z', ${series}, NULL)`,
  )
  const named = `SELECT device, name, metric, value FROM ${namedMeasurementsView} WHERE ts IN '2026-01-01'`
  await until('the value is visible', async () => (await rows(named)).length > 0)
  t.strictSame(await rows(named), [[symbol(cellar), 'cellar', 'wind_speed', 300]])
  const plan = (await rows(`EXPLAIN ${named} AND metric = 'wind_speed'`)).join('\n')
  t.match(plan, /Interval forward scan on: measurements/, 'of the values only those of the time are read')
  const jobs = openJobs(t, { syncNames: names.sync })
  t.match(await jobs.requestMetric('cellar', 'wind_speed', 'test'), { ok: true })
  await until('it is erased', async () => (await jobs.metricReport('cellar', 'wind_speed'))?.state === 'done')
  t.strictSame(await present(), [ofFirst, ofSecond])
  t.strictSame(await rows(named), [])
  await send(cellar, 'wind_speed')
  await untilNamed([ofFirst, ofSecond, wind])
})

t.test('names that the registry itself would not take are one row too', async t => {
  await store.postgres.query(
    `UPDATE devices SET name = E'two\\nlines', location_short = E'\\r\\n"', auth_seq = nextval('auth_seq') WHERE name = 'cellar'`,
  )
  const reopened = await openDevices({ pool: store.postgres, now: Date.now, log: silentLog, graceMs: 0 })
  t.teardown(() => reopened.close())
  const names = start(t, { source: deviceNames(reopened) })
  await names.sync()
  await until('it is there', async () => (await present()).some(([, name]) => name === 'two\nlines'))
  const found = (await present()).find(([, name]) => name === 'two\nlines')
  t.strictSame(found?.slice(1), ['two\nlines', '\r\n"'])
})
