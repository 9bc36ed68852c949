/** Names, erases and days that expire in two shards, one of which is away for a while. */

import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { openStations } from '../../auth/stations/stations.ts'
import { createEraseJobs } from '../../lifecycle/erasure/erase-jobs.ts'
import { openNames } from '../../lifecycle/name-sync/name-sync.ts'
import { openAcceptedFrom } from '../../lifecycle/retention/accepted-from.ts'
import { listRawDays } from '../../lifecycle/retention/expired-days.ts'
import { dayMs } from '../../lifecycle/retention/horizon.ts'
import { openRetention } from '../../lifecycle/retention/retention.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import type { Exec } from '../../store/questdb/until-applied.ts'
import { deviceNamesTable, measurementsTable } from '../../store/tables.ts'
import { openParts } from '../support/admin.ts'
import { recordingLog, silentLog, startDatabases } from '../support/databases.ts'
import { startGatedQuestdb } from '../support/gated-questdb.ts'
import { records } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'

interface Named {
  readonly number: number
  readonly symbol: string
}

/** A registry in PostgreSQL, and two shards with a journal and a QuestDB each, the second of which can be away. */
const { store } = await startDatabases(t)
await store.questdb.ready
const gated = await startGatedQuestdb(t)
const [parts, others] = [await openParts(t, store), await openParts(t, store)]
const shards = [
  { number: 1, questdb: store.questdb, ingest: parts.ingest },
  { number: 2, questdb: gated.questdb, ingest: others.ingest },
].map(shard => {
  shard.ingest.startForwarding(shard.questdb.address.http, true)
  const client = createQuestdbClient(shard.questdb.address.http)
  t.teardown(() => client.close())
  const exec: Exec = sql => client.exec(sql, 30_000)
  return { ...shard, exec }
})
const { devices, metrics, ingest, pointsIngest } = parts

async function addDevice(name: string): Promise<Named> {
  await devices.add([NewDevice.parse({ name })], 'test')
  const device = devices.get(name)
  if (device === undefined) throw new Error('the device was not made')
  return device
}

/** A reading at each of these moments. */
async function send(shard: number, device: Named, timesMs: readonly number[]): Promise<void> {
  const { ingest } = shards[shard - 1] as (typeof shards)[number]
  for (const timeMs of timesMs) await ingest.append(records(device, [20], timeMs * 1000, true))
  await until('all is applied', () => ingest.status().lag.rows === 0)
}

/** The first column of the first row that a shard answers. */
async function ask(shard: number, sql: string): Promise<unknown> {
  return (await shards[shard - 1]?.exec(sql))?.[0]?.[0]
}

const [hall, loft] = [await addDevice('hall'), await addDevice('loft')]
const days = 3
const today = Math.floor(Date.now() / dayMs) * dayMs
const beforeMs = today - days * dayMs
const agesMs = (...ages: number[]) => ages.map(age => today - age * dayMs + dayMs / 2)
await send(1, hall, agesMs(1, 2, 4, 5, 6))
// Without a reading on the last day that expires, nor for a while.
await send(2, loft, agesMs(2, 5, 6, 7))

const { log, texts } = recordingLog('info')
const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days, nowMs: Date.now })
const open = (nowMs = Date.now) => {
  const timing = { checkEveryMs: 20, marginMs: 0, graceMs: 0 }
  const retention = openRetention({ days, acceptedFrom, shards, nowMs, timing, log })
  t.teardown(() => retention.close())
  return retention
}
const oldestMs = async (shard: 1 | 2) =>
  (await listRawDays((shards[shard - 1] as (typeof shards)[number]).exec))[0]?.startMs
const start = (age: number) => today - age * dayMs

t.test('the days of all shards wait for one person', async t => {
  const retention = open()
  await until('they wait', () => retention.state().waiting?.days === 4)
  t.strictSame(retention.state().waiting, { fromMs: start(7), beforeMs, days: 4, reason: 'several_days' })
  t.equal(retention.state().oldestDayMs, start(7))
  t.equal(retention.state().fault, undefined)
  t.ok(retention.isKnown())
  await retention.close()
})

t.test('a shard that is away delays what it has itself, and is named', async t => {
  const retention = open()
  await until('they wait', () => retention.state().waiting !== undefined)
  await gated.shut()
  t.ok(await retention.confirm(beforeMs))
  await until('they are gone', async () => (await oldestMs(1)) === start(2))
  await until('it is named', () => retention.state().fault === 'shard 2: QuestDB is unavailable')
  await until('one is counted, of which the other has no readings', () => retention.state().expiredDays > 0)
  t.equal(retention.expiredBeforeUs(1), beforeMs * 1000)
  t.equal(retention.expiredBeforeUs(2), Number.NEGATIVE_INFINITY)
  t.equal(retention.expiredBeforeUs(), beforeMs * 1000)
  t.equal(retention.state().expiredDays, 1)
  t.equal(retention.state().oldestDayMs, start(7))

  const other = open()
  await until('one of them is known', () => other.isKnown(1))
  t.notOk(other.isKnown(2))
  t.notOk(other.isKnown())
  await other.close()

  await gated.open()
  await until('it follows', async () => (await oldestMs(2)) === start(2))
  await until('nothing is wrong', () => retention.state().fault === undefined)
  await until('all are counted', () => retention.state().expiredDays === 4)
  t.equal(texts.filter(text => text.startsWith('raw readings of a day expired')).length, 4)
  t.equal(retention.state().oldestDayMs, start(2))
  t.equal(retention.expiredBeforeUs(2), beforeMs * 1000, 'also behind a day without readings')
  t.throws(() => retention.expiredBeforeUs(3), /no shard 3/)
  await retention.close()
})

t.test('a shard that was away goes by what has expired elsewhere, of which it has no readings', async t => {
  await send(1, hall, agesMs(3))
  await gated.shut()
  await acceptedFrom.raise(start(2))
  const retention = open(() => Date.now() + dayMs)
  await until('it has expired', () => retention.expiredBeforeUs(1) === start(2) * 1000)
  await until('it is removed', async () => (await oldestMs(1)) === start(2))
  t.not(retention.expiredBeforeUs(2), start(2) * 1000)
  await gated.open()
  await until('it has expired there too', () => retention.expiredBeforeUs(2) === start(2) * 1000)
  t.equal(await oldestMs(2), start(2))
  await retention.close()
})

t.test('work during which no day expires holds in every shard', async t => {
  const retention = open()
  await retention.whileNoDayExpires(async () => {
    await send(1, hall, agesMs(8))
    await send(2, loft, agesMs(8))
    const { lastRunMs = 0 } = retention.state()
    await until('it has run', () => (retention.state().lastRunMs ?? 0) > lastRunMs + 100)
    t.strictSame([await oldestMs(1), await oldestMs(2)], [start(8), start(8)])
  })
  for (const shard of [1, 2] as const) await until('it is gone', async () => (await oldestMs(shard)) !== start(8))
  await retention.close()
})

pointsIngest.startForwarding(store.questdb.address.http, true)
const stations = openStations({ pool: store.postgres, nowMs: Date.now, log: silentLog })
t.teardown(() => stations.close())
const names = openNames({ devices, metrics, shards, log: silentLog, checkEveryMs: 10 })
t.teardown(() => names.close())
const told: [fields: Record<string, unknown>, text: string][] = []
const eraseLog = { ...silentLog, info: (...words: unknown[]) => void told.push(words as (typeof told)[number]) }
const paths = shards.map(shard => shard.ingest)
const jobs = createEraseJobs({
  devices,
  metrics,
  stations,
  ingest: {
    readings: {
      ...ingest,
      files: undefined,
      erase: async () => Promise.reject(new Error('each shard is erased by itself')),
      onLost: listener => paths.forEach(path => void path.onLost(listener)),
      refuseSeries: numbers => paths.forEach(path => void path.refuseSeries(numbers)),
    },
    points: pointsIngest,
  },
  store,
  shards,
  syncNames: names.sync,
  log: eraseLog,
})
t.teardown(() => jobs.close())

const nowMs = Date.now()
const hourMs = 3_600_000
const nameIn = (shard: number, symbol: string) =>
  ask(shard, `SELECT name FROM ${deviceNamesTable} WHERE device = '${symbol}'`).catch(() => undefined)
const valuesIn = (shard: number, symbol: string) =>
  ask(shard, `SELECT count(temperature) FROM readings WHERE device = '${symbol}'`)

t.test('every shard has all names, and one that is away gets them later', async t => {
  const porch = await addDevice('porch')
  for (const shard of [1, 2]) await until('it is there', async () => (await nameIn(shard, porch.symbol)) === 'porch')
  await gated.shut()
  const roof = await addDevice('roof')
  await until('it is there', async () => (await nameIn(1, roof.symbol)) === 'roof')
  await t.rejects(names.sync(2))
  await t.rejects(names.sync(3), /no names are copied to shard 3/)
  await gated.open()
  await until('it is there', async () => (await nameIn(2, roof.symbol)) === 'roof')
})

t.test('a device that has moved is erased in both shards, and the report says for which it waits', async t => {
  const [moved, other] = [await addDevice('moved'), await addDevice('other')]
  for (const shard of [1, 2]) {
    await send(shard, moved, [nowMs - 50 * hourMs, nowMs - shard * hourMs])
    await send(shard, other, [nowMs - shard * hourMs])
  }
  await send(2, moved, [nowMs - 3 * hourMs])
  await gated.shut()
  await jobs.request('moved', 'test')
  await until('one has erased it', async () => Number(await valuesIn(1, moved.symbol)) === 0)
  t.match(await jobs.report('moved'), { state: 'running', rows: null, error: 'shard 2: QuestDB is unavailable' })
  await gated.open()
  await until('it is erased', async () => (await jobs.report('moved'))?.state === 'done')
  t.match(await jobs.report('moved'), { rows: 5, error: null })
  for (const shard of [1, 2]) {
    t.equal(Number(await valuesIn(shard, moved.symbol)), 0)
    t.equal(Number(await valuesIn(shard, other.symbol)), 1)
    t.equal(await nameIn(shard, moved.symbol), null)
  }
})

t.test('the values of a metric are counted in both shards', async t => {
  const shed = await addDevice('shed')
  t.equal(await metrics.ensure([{ device: shed.number, field: 'co2' }], 'test'), 'done')
  const series = metrics.series(shed.number, metrics.find('co2') ?? { id: 0 })
  for (const { exec, number } of shards) {
    const rows = Array.from({ length: number + 1 }, (_, hour) => `(${(nowMs - hour * hourMs) * 1000}, ${series}, 1.0)`)
    await exec(`INSERT INTO ${measurementsTable} (ts, series, value) VALUES ${rows.join(', ')}`)
  }
  await jobs.requestMetric('shed', 'co2', 'test')
  await until('it is erased', async () => (await jobs.metricReport('shed', 'co2'))?.state === 'done')
  t.match(await jobs.metricReport('shed', 'co2'), { rows: 5, error: null })
  for (const shard of [1, 2]) {
    t.equal(Number(await ask(shard, `SELECT count(value) FROM ${measurementsTable} WHERE series = ${series}`)), 0)
  }
  t.equal(told.filter(([, text]) => text === 'erase job finished').length, 2)
})
