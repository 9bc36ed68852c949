import pg from 'pg'
import t, { test } from 'tap'
import { watchHourlyView } from '../../store/questdb/hourly-view.ts'
import { hourlyView, readingsTable } from '../../store/tables.ts'
import { recordingLog, silentLog, type TestHooks } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'

const questdb = await startQuestdb(t)
const client = new pg.Client({ ...questdb.address.pg, ssl: false })
await client.connect()
t.teardown(() => client.end())

function watched(hooks: TestHooks, log = silentLog) {
  const view = watchHourlyView({
    address: questdb.address,
    ready: Promise.resolve(),
    isUp: () => true,
    timing: { refreshEveryMs: 100, checkEveryMs: 50, graceMs: 0 },
    log,
  })
  hooks.teardown(() => view.close())
  return view
}

const hoursOf = `SELECT device, temperature_count AS n, temperature_mean AS mean FROM ${hourlyView} ORDER BY device, ts`
const hours = async () => (await client.query(hoursOf)).rows

test('the hours are kept beside a table that was there before, and follow it', async t => {
  await questdb.write([
    { symbol: 'a-1', time: '2025-01-01T00:10:00Z', temperature: 1 },
    { symbol: 'a-1', time: '2025-01-01T00:20:00Z', temperature: 2 },
    { symbol: 'b-2', time: '2025-01-01T03:20:00Z' },
  ])
  await client.query(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
  const view = watched(t)
  await until('it is valid', () => view.validThroughTxn() !== undefined)
  t.strictSame(await hours(), [
    { device: 'a-1', n: '2', mean: 1.5 },
    { device: 'b-2', n: '0', mean: null },
  ])
  const before = view.validThroughTxn() ?? 0
  await questdb.write([{ symbol: 'a-1', time: '2025-01-01T00:20:00Z', temperature: 4 }])
  await until('it is refreshed', () => (view.validThroughTxn() ?? 0) > before)
  t.match(await hours(), [{ n: '2', mean: 2.5 }, {}], 'a reading that was replaced counts once')
})

test('hours that QuestDB has given up are not used, and are made anew', async t => {
  const { log, texts } = recordingLog('info')
  const view = watched(t, log)
  await until('it is valid', () => view.validThroughTxn() !== undefined)
  await client.query(`TRUNCATE TABLE ${readingsTable}`)
  await until('it is not', () => view.validThroughTxn() === undefined)
  await questdb.write([{ symbol: 'c-3', time: '2025-02-01T00:10:00Z', temperature: 3 }])
  await until('it is valid again', () => view.validThroughTxn() !== undefined)
  t.match(texts, [/rebuilding the hourly view/])
  t.match(await hours(), [{ device: 'c-3', n: '1', mean: 3 }])
})

test('a view of another version is made anew', async t => {
  await client.query(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
  await client.query(
    `CREATE MATERIALIZED VIEW ${hourlyView} AS (SELECT ts, device, count() n FROM ${readingsTable} SAMPLE BY 1h) PARTITION BY DAY`,
  )
  const view = watched(t)
  await until('it is valid', () => view.validThroughTxn() !== undefined)
  t.match(await hours(), [{ device: 'c-3', n: '1', mean: 3 }])
})

test('where there can be no such view, that is told once and all goes on without it', async t => {
  await client.query(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
  await client.query(`CREATE TABLE ${hourlyView} (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL`)
  const { log, texts } = recordingLog('warn')
  const view = watched(t, log)
  await view.checked
  await new Promise(resolve => setTimeout(resolve, 500))
  t.equal(view.validThroughTxn(), undefined)
  t.strictSame(texts, ['no hourly view in QuestDB: hourly queries read the raw readings'])
})
