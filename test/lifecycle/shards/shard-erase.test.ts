/** Names and erases in two shards, one of which is away for a while. */

import t from 'tap'
import { openStations } from '../../../auth/stations/stations.ts'
import { createEraseJobs } from '../../../lifecycle/erasure/erase-jobs.ts'
import { openNames } from '../../../lifecycle/name-sync/name-sync.ts'
import { deviceNamesTable, measurementsTable } from '../../../store/tables.ts'
import { silentLog } from '../../support/databases.ts'
import { until } from '../../support/processes.ts'
import { startTwoShards } from './two-shards.ts'

const { store, gated, shards, addDevice, send, ask, devices, metrics, ingest, pointsIngest } = await startTwoShards()
pointsIngest.startForwarding(store.questdb.address.http, true)
const stations = openStations({ pool: store.postgres, nowMs: Date.now, log: silentLog })
t.teardown(() => stations.close())
const names = openNames({ devices, metrics, shards, log: silentLog, checkEveryMs: 10 })
t.teardown(() => names.close())
const told: [fields: Record<string, unknown>, text: string][] = []
const log = { ...silentLog, info: (...words: unknown[]) => void told.push(words as (typeof told)[number]) }
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
  log,
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
