import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t, { test } from 'tap'
import { watchHourlyView } from '../../store/questdb/hourly-view.ts'
import { type ViewState, ViewWatch } from '../../store/questdb/hourly-view-watch.ts'
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

test('the hours are built beside an existing table and follow it', async t => {
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

test('hours that QuestDB has invalidated are not used until they are rebuilt', async t => {
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

test('a view whose state QuestDB cannot read for a moment is not rebuilt', async t => {
  const { log, texts } = recordingLog('info')
  const view = watched(t, log)
  await until('it is valid', () => view.validThroughTxn() !== undefined)
  const file = await stateFile()
  const state = readFileSync(file)
  writeFileSync(file, '')
  await until('its state is not known', () => view.validThroughTxn() === undefined)
  writeFileSync(file, state)
  await until('it is valid again', () => view.validThroughTxn() !== undefined)
  t.equal(await stateFile(), file)
  t.notMatch(texts.join(), /rebuilding/)
})

/** Path of the file in which QuestDB keeps the view's state. */
async function stateFile(): Promise<string> {
  const { rows } = await client.query(`SELECT directoryName FROM tables() WHERE table_name = '${hourlyView}'`)
  return join(questdb.root, 'db', rows[0].directoryName, '_mv.s')
}

test('a view of another version is rebuilt', async t => {
  await client.query(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
  await client.query(
    `CREATE MATERIALIZED VIEW ${hourlyView} AS (SELECT ts, device, count() n FROM ${readingsTable} SAMPLE BY 1h) PARTITION BY DAY`,
  )
  const view = watched(t)
  await until('it is valid', () => view.validThroughTxn() !== undefined)
  t.match(await hours(), [{ device: 'c-3', n: '1', mean: 3 }])
})

test('without a possible view there is one log line and no other effect', async t => {
  // A statement of the watch before may end after its close, and create the view once more.
  await until('a table has the name of the view', async () => {
    await client.query(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
    const created = client.query(`CREATE TABLE ${hourlyView} (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL`)
    return await created.then(
      () => true,
      () => false,
    )
  })
  const { log, texts } = recordingLog('warn')
  const view = watched(t, log)
  await view.checked
  await new Promise(resolve => setTimeout(resolve, 500))
  t.equal(view.validThroughTxn(), undefined)
  t.strictSame(texts, ['no hourly view in QuestDB: hourly queries read the raw readings'])
})

const minuteMs = 60_000

function watchAt() {
  const clock = { ms: 0 }
  const watch = new ViewWatch({ refreshEveryMs: 10 * minuteMs, graceMs: 2 * minuteMs, monotonicMs: () => clock.ms })
  const newest = { refreshedTxn: 5, sequencedTxn: 5, appliedTxn: 5, isApplied: true }
  const good: ViewState = { status: 'valid', reason: '', isOurs: true, isSuspended: false, ...newest }
  /** The decision on this state after this time. `tableTxn` is the table's newest, which shows too. */
  const check = (change: (Partial<ViewState> & { tableTxn?: number }) | undefined, laterMs = 0) => {
    clock.ms += laterMs
    if (change === undefined) return watch.check(undefined).kind
    const { tableTxn = 5, ...others } = change
    return watch.check({ ...good, sequencedTxn: tableTxn, appliedTxn: tableTxn, ...others }).kind
  }
  const through = (...given: Parameters<typeof check>) => {
    check(...given)
    return watch.validThroughTxn
  }
  /** The decision with the last valid transaction. */
  const see = (...given: Parameters<typeof check>) => `${check(...given)} ${watch.validThroughTxn}`
  return { clock, watch, check, through, see }
}

test('a view is valid when it has come to the transaction that the table had at first', async t => {
  const { watch, check, through, see } = watchAt()
  t.equal(check(undefined), 'rebuild', 'it is made')
  t.equal(see({ status: 'refreshing', refreshedTxn: -1, tableTxn: 7 }), 'none undefined')
  t.equal(see({ refreshedTxn: 6, tableTxn: 9 }), 'refresh undefined', 'what others had sent before us may be missing')
  t.equal(through({ refreshedTxn: 9, tableTxn: 9, isApplied: false }), undefined, 'it does not show yet')
  t.equal(through({ refreshedTxn: 9, tableTxn: 9 }), 9)
  t.equal(through({ refreshedTxn: 12, tableTxn: 12, isApplied: false }), 9, 'rows being merged are unknown')
  watch.invalidate()
  t.equal(watch.validThroughTxn, undefined)
})

test('a view is refreshed when the table has more, not too often and not at the cost of others', async t => {
  const { check } = watchAt()
  t.equal(check({}), 'none', 'there is nothing new')
  t.equal(check({ tableTxn: 6 }), 'refresh')
  t.equal(check({ tableTxn: 7, status: 'refreshing' }, minuteMs), 'none')
  t.equal(check({ tableTxn: 9, refreshedTxn: 7 }, minuteMs), 'none')
  const later = check({ tableTxn: 9, refreshedTxn: 7 }, 10 * minuteMs)
  t.equal(later, 'none', 'it took two minutes, so it has a longer pause')
  t.equal(check({ tableTxn: 9, refreshedTxn: 7 }, 9 * minuteMs), 'refresh')
})

test('hidden rows need no refresh until they show', async t => {
  const { check, through, see } = watchAt()
  for (let hour = 0; hour < 5; hour++) {
    t.equal(see({ refreshedTxn: 5, sequencedTxn: 8, appliedTxn: 5 }, 60 * minuteMs), 'none undefined')
  }
  t.equal(check({ refreshedTxn: 5, tableTxn: 8 }), 'refresh')
  t.equal(through({ refreshedTxn: 8, tableTxn: 8 }), 8)
})

test('a dropped refresh is requested again before the view is rebuilt', async t => {
  const { check, see } = watchAt()
  check({})
  const done = Array.from({ length: 8 }, () => check({ tableTxn: 8 }, 10 * minuteMs))
  t.strictSame(done, [...Array.from({ length: 7 }, () => 'refresh'), 'none'])
  t.equal(see({ tableTxn: 8 }, 2 * minuteMs), 'rebuild undefined')
})

test('a fault rebuilds the view, at growing pauses while that does not help', async t => {
  for (const fault of [
    { status: 'invalid', reason: 'truncate operation' },
    { isOurs: false },
    { isSuspended: true },
    { refreshedTxn: 6 },
    { tableTxn: 4, refreshedTxn: 4 },
  ]) {
    const { check, through, see } = watchAt()
    t.equal(through({}), 5)
    t.equal(see(fault), 'none undefined', 'a query may still use it')
    t.equal(see({ refreshedTxn: 9, tableTxn: 9 }, minuteMs), 'none undefined', 'it stays a fault')
    t.equal(check(fault, minuteMs), 'rebuild', JSON.stringify(fault))
    let made = 0
    for (let second = 0; second < 86_400; second += 5) if (check({ status: 'invalid' }, 5000) === 'rebuild') made++
    t.ok(made > 20 && made < 40, `${made} times in a day`)
    while (check({ status: 'invalid' }, 5000) !== 'rebuild') made++
    t.equal(through({ refreshedTxn: 20, tableTxn: 20 }, 5000), 20)
    check({ refreshedTxn: 20, tableTxn: 20 }, 3_600_000)
    check({ status: 'invalid' }, 5000)
    t.equal(check({ status: 'invalid' }, 2 * minuteMs), 'rebuild', 'a new fault begins with short pauses')
    t.equal(check({ status: 'invalid' }, 15_000), 'rebuild')
  }
})

test('a view that may hold lost rows is rebuilt', async t => {
  const { watch, check, through, see } = watchAt()
  check({})
  watch.markSuspect('of a test')
  t.equal(watch.validThroughTxn, undefined)
  t.equal(see({}), 'none undefined')
  t.equal(check({}, 2 * minuteMs), 'rebuild')
  t.equal(check({ status: 'refreshing', refreshedTxn: -1 }), 'none')
  t.equal(through({ refreshedTxn: 7, tableTxn: 7 }), 7)
})
