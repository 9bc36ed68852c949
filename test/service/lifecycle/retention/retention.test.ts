/** Readings that expire in real databases: removed and kept data, and a killed run. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { noFeed } from '../../../../auth/nodes/change-feed.ts'
import { openNodes } from '../../../../auth/nodes/nodes.ts'
import { openStations } from '../../../../auth/stations/stations.ts'
import { createEraseJobs } from '../../../../service/lifecycle/erasure/erase-jobs.ts'
import { createEraseSteps, untilNoHoursAreKept } from '../../../../service/lifecycle/erasure/erase-steps.ts'
import { Expiry } from '../../../../service/lifecycle/retention/expiry.ts'
import { dayMs, openAcceptedFrom } from '../../../../service/lifecycle/retention/horizon.ts'
import type { Retention, RetentionOptions } from '../../../../service/lifecycle/retention/retention.ts'
import { openRetention } from '../../../../service/lifecycle/retention/retention.ts'
import { createRetentionNodes } from '../../../../service/lifecycle/retention/retention-nodes.ts'
import { createSharedLock } from '../../../../service/lifecycle/retention/shared-lock.ts'
import { untilTableApplied } from '../../../../store/questdb/until-applied.ts'
import { metrics } from '../../../../store/tables.ts'
import { recordingLog, silentLog } from '../../../support/databases.ts'
import { records } from '../../../support/journal-parts.ts'
import { until } from '../../../support/processes.ts'
import {
  addDevice,
  beforeMs,
  client,
  dayCount,
  days,
  devices,
  exec,
  firstDay,
  hours,
  ingest,
  keptDays,
  killThenEnd,
  open,
  openUnconfirmed,
  pause,
  pointsIngest,
  porch,
  porchHours,
  rawStarts,
  registry,
  reset,
  send,
  store,
  today,
} from './retention-world.ts'

t.test('days expire as a whole with one log line each while their hours stay', async t => {
  const { log, texts } = recordingLog('info')
  const retention = await open(t, { log })
  await until('they are gone', () => retention.state().oldestDayMs === beforeMs)
  t.strictSame(await rawStarts(), keptDays)
  t.equal(retention.expiredBeforeUs(), beforeMs * 1000)
  t.strictSame(await hours(porch, beforeMs * 1000), porchHours)
  t.match(retention.state(), { days, expiredDays: 3, fault: undefined, lastRunMs: Number })
  t.equal(texts.filter(text => text.includes('expired')).length, 3)
  const later = retention.state().lastRunMs ?? 0
  await until('it looks again', () => (retention.state().lastRunMs ?? 0) > later)
  t.equal(retention.state().expiredDays, 3)
  const { rows } = await store.postgres.query('SELECT accepted_from FROM retention')
  t.strictSame(rows, [{ accepted_from: new Date(beforeMs) }])
})

t.test('with more days, or without the setting, no further day expires', async t => {
  for (const other of [400, undefined]) {
    const retention = await open(t, { days: other })
    await until('it is known', () => retention.isKnown() && retention.state().lastRunMs !== undefined)
    t.equal(retention.expiredBeforeUs(), beforeMs * 1000)
    t.strictSame(await rawStarts(), keptDays)
    await retention.close()
  }
})

t.test('readings that a replay brings back go again and count once', async t => {
  await send(porch)
  t.equal((await rawStarts())[0], firstDay)
  t.strictSame(await hours(porch, beforeMs * 1000), porchHours)
  const retention = await open(t)
  await until('they are gone', () => retention.state().oldestDayMs === beforeMs)
  t.strictSame(await hours(porch, beforeMs * 1000), porchHours)
  const [row] = await exec('SELECT count() FROM readings_expired')
  t.strictSame(row, [3], 'no day expired again')
})

t.test('a device is erased with the hours of its expired days, while no day expires', async t => {
  const attic = await addDevice('attic')
  await reset()
  await send(porch)
  await send(attic)
  const retention = await open(t)
  await until('days have expired', () => retention.state().oldestDayMs === beforeMs)
  t.equal((await hours(attic, beforeMs * 1000)).length, 2 * dayCount)
  const stations = openStations({ pool: store.postgres, nowMs: Date.now, log: silentLog })
  t.teardown(() => stations.close())
  let erasing = 0
  const whileNoDayExpires: Retention['whileNoDayExpires'] = work => {
    erasing++
    return retention.whileNoDayExpires(work)
  }
  const registries = { devices, metrics: registry, stations }
  const parts = { ingest: { readings: ingest, points: pointsIngest }, store, log: silentLog }
  const jobs = createEraseJobs({ ...registries, ...parts, whileNoDayExpires })
  t.teardown(() => jobs.close())
  await jobs.request('attic', 'test')
  await until('it is erased', async () => (await jobs.report('attic'))?.state === 'done')
  t.match(await jobs.report('attic'), { rows: days * 4, error: null })
  t.equal(erasing, 1)
  const of = `WHERE device = '${attic.symbol}'`
  const present = metrics.map(metric => `count(${metric}_count) + count(${metric}_mean)`).join(' + ')
  t.strictSame(await exec(`SELECT ${present} FROM readings_hours ${of}`), [[0]])
  t.strictSame(await exec(`SELECT count(temperature) FROM readings ${of}`), [[0]])
  t.strictSame(await hours(porch, beforeMs * 1000), porchHours, 'others keep theirs')
})

t.test('an erase waits for hours that are still being kept, by whomever', async t => {
  const { symbol } = await addDevice('cellar')
  const hoursOf = (select: string) => `INSERT INTO readings_hours (ts, device, temperature_count) ${select}`
  const at = `'${new Date(beforeMs).toISOString()}'`
  let isLeft = true
  /** The statement of a process that was killed meanwhile. */
  async function endWhatIsLeft(): Promise<void> {
    if (isLeft) await exec(hoursOf(`VALUES (${at}, '${symbol}', 5)`))
    isLeft = false
  }
  let asked = 0
  const replica = {
    ...{ number: 1, questdb: store.questdb },
    async exec(sql: string) {
      if (!sql.includes('query_activity()')) return await exec(sql)
      if (++asked < 3) return [[1]]
      await endWhatIsLeft()
      return [[0]]
    },
  }
  const steps = createEraseSteps({
    ...{ ingest: { readings: ingest, points: pointsIngest }, replicas: [replica], log: silentLog, pause },
    settle: async () => undefined,
    signal: new AbortController().signal,
    noteValues: async (_, values) => values,
  })
  await steps.eraseAgain('readings', { numbers: [], symbols: [symbol], customSeries: [] })
  await endWhatIsLeft()
  await untilTableApplied(exec, 'readings_hours', pause)
  const left = `SELECT count(), count(temperature_count) FROM readings_hours WHERE device = '${symbol}'`
  t.strictSame(await exec(left), [[1, 0]])
})

t.test('QuestDB knows of hours that are being kept', async t => {
  const slow = '(SELECT max(rnd_double()) AS most FROM long_sequence(100000000))'
  const statement = `INSERT INTO readings_hours (ts, device, temperature_count)
    SELECT '2020-01-01'::timestamp, 'nobody-0', cast(most AS LONG) FROM ${slow}`
  let isOver = false
  const keeping = client.exec(statement, 120_000).catch(() => undefined)
  void keeping.then(() => {
    isOver = true
  })
  const text = "SELECT count() FROM query_activity() WHERE query LIKE 'INSERT INTO readings_hours %'"
  const isReported = async () => (await exec(text))[0]?.[0] === 1
  await until('it runs', async () => isOver || (await isReported()))
  t.equal(isOver, false)
  await untilNoHoursAreKept(exec, pause)
  t.equal(await isReported(), false)
  await keeping
})

t.test('no day expires beside an erase or a backup, nor before all that was accepted is applied', async t => {
  await reset()
  await send(porch)
  const lock = createSharedLock()
  let position = 10
  const status = { forwarder: { applied: 0 } }
  const raised: number[] = []
  const losses: ((reason: string) => void)[] = []
  const expiry = new Expiry({
    exec,
    lock,
    monotonicMs: () => performance.now(),
    graceMs: 0,
    acceptedFrom: { raise: async ms => void raised.push(ms), raisedMs: () => Math.max(...raised) },
    readings: {
      applied: () => status.forwarder.applied,
      endOfAll: async () => position,
      onLost: listener => void losses.push(listener),
    },
  })
  const isExpired = async () => {
    await expiry.expire(beforeMs, pause)
    return expiry.expiredBeforeMs === beforeMs
  }
  await expiry.look()
  t.equal(await isExpired(), false)
  t.strictSame(raised, [beforeMs], 'it is refused before that')
  position = 30
  status.forwarder.applied = 9
  t.equal(await isExpired(), false)
  for (const lose of losses) lose('QuestDB was restarted')
  status.forwarder.applied = 29
  t.equal(await isExpired(), false, 'what was applied may be lost, so all that is there now counts')
  status.forwarder.applied = 30
  const work = Promise.withResolvers<void>()
  const backup = lock.shared(() => work.promise)
  t.equal(await isExpired(), false)
  work.resolve()
  await backup
  t.equal(await isExpired(), true)
  const erase = Promise.withResolvers<void>()
  const other = lock.shared(() => erase.promise)
  t.strictSame(await expiry.remove(pause), [])
  erase.resolve()
  await other
  t.equal((await rawStarts())[0], firstDay)
  t.equal((await expiry.remove(pause)).length, 3)
})

t.test('a day is not removed before the queries have ended that count on it', async t => {
  await reset()
  await send(porch)
  const retention = await open(t, { timing: { checkEveryMs: 60, marginMs: 0, graceMs: 3_600_000 } })
  await until('days are marked', () => retention.expiredBeforeUs() === beforeMs * 1000)
  const { lastRunMs = 0 } = retention.state()
  await until('it looks again', () => (retention.state().lastRunMs ?? 0) > lastRunMs)
  t.equal((await rawStarts())[0], firstDay)
  await retention.close()
  const margin = await open(t, { days: 1, timing: { checkEveryMs: 60, marginMs: 3_600_000, graceMs: 3_600_000 } })
  await until('it looks', () => margin.state().lastRunMs !== undefined)
  t.equal(margin.expiredBeforeUs(), beforeMs * 1000, 'nor marked before the margin is over')
})

t.test('a failure and a lost mark are reported, nothing is removed, and the next check continues', async t => {
  const faults: [string, () => Promise<[]>, RegExp][] = [
    ['INSERT INTO readings_hours', () => Promise.reject(new Error('no space left')), /^no space left$/],
    ['INSERT INTO readings_expired', async () => [], /^the mark of \d{4}-\d\d-\d\d is lost$/],
  ]
  for (const [statement, answer, fault] of faults) {
    await reset()
    await send(porch)
    const { log, texts } = recordingLog('warn')
    let isBroken = true
    const broken = (sql: string) => (isBroken && sql.startsWith(statement) ? answer() : exec(sql))
    const retention = await open(t, { log, exec: broken })
    await until('it is reported', () => fault.test(retention.state().fault ?? ''))
    t.equal(retention.isKnown(), true, 'queries are answered meanwhile')
    const { lastRunMs = 0 } = retention.state()
    await until('it was tried again', () => (retention.state().lastRunMs ?? 0) > lastRunMs + 50)
    t.strictSame(texts, ['raw readings cannot expire, retrying'], 'once')
    t.equal((await rawStarts())[0], firstDay)
    isBroken = false
    await until('they are gone', () => retention.state().oldestDayMs === beforeMs)
    t.equal(retention.state().fault, undefined)
    await retention.close()
  }
})

/** A look that began after this call has ended. */
async function untilLooked(retention: Retention): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const { lastRunMs } = retention.state()
    await until('it looks', () => retention.state().lastRunMs !== lastRunMs)
  }
}

/** The clock can be set, except for times of receipt. */
async function openByClock(t: Test, nowMs: () => number, more: Partial<RetentionOptions> = {}): Promise<Retention> {
  await reset()
  await send(porch)
  // No day expires before that.
  await until('it is known', () => ingest.status().forwarder.applied >= ingest.status().journal.end)
  let ticks = 0
  // Each look has a time of its own.
  return await openUnconfirmed(t, { ...more, nowMs: () => nowMs() + ticks++ / 1000 })
}

const newestMs = today - dayMs / 2 + 7_200_000
/** The newest reading makes the oldest day the first one that is kept. */
const kept = dayCount - 1

t.test('one due day expires without a confirmation, the next one a day later', async t => {
  const clock = { ms: newestMs }
  const retention = await openByClock(t, () => clock.ms, { days: kept - 1 })
  await until('the day has gone', async () => (await rawStarts())[0] === firstDay + dayMs)
  clock.ms += dayMs
  await untilLooked(retention)
  t.equal((await rawStarts())[0], firstDay + dayMs, 'no reading is as new as the clock')
  await ingest.append(records(porch, [1], clock.ms * 1000, true))
  await until('the next day has gone', async () => (await rawStarts())[0] === firstDay + 2 * dayMs)
  t.equal(retention.state().waiting, undefined)
})

t.test('days that are due at once wait until a person confirms, also over a restart', async t => {
  const { log, texts } = recordingLog('warn')
  const retention = await openByClock(t, () => today, { log })
  await untilLooked(retention)
  t.strictSame(retention.state().waiting, { fromMs: firstDay, beforeMs, days: 3, reason: 'several_days' })
  t.equal(texts.length, 1, 'one log line')
  t.match(texts[0], `barograph retention confirm ${new Date(beforeMs).toISOString().slice(0, 10)}`)
  t.strictSame((await store.postgres.query('SELECT FROM retention')).rows, [], 'no more readings are refused for good')
  for (const wrong of [firstDay, beforeMs + dayMs]) t.equal(await retention.confirm(wrong), false)
  await untilLooked(retention)
  t.equal((await rawStarts()).length, dayCount)
  t.equal(await retention.confirm(firstDay + dayMs), true, 'a part of them')
  await until('that part is gone', () => retention.state().oldestDayMs === firstDay + dayMs)
  await until('the rest waits', () => retention.state().waiting?.fromMs === firstDay + dayMs)
  const margin = { checkEveryMs: 60, marginMs: 3_600_000, graceMs: 0 }
  await retention.close()
  const restarted = await openUnconfirmed(t, { nowMs: () => today, timing: margin })
  await until('it waits', () => restarted.state().waiting !== undefined)
  t.equal(await restarted.confirm(beforeMs), true)
  t.equal(await restarted.confirm(beforeMs), false, 'nothing waits any more')
  await restarted.close()
  t.equal((await rawStarts())[0], firstDay + dayMs, 'the margin was not over')
  const again = await openUnconfirmed(t, { nowMs: () => today })
  await until('they are gone', () => again.state().oldestDayMs === beforeMs)
  t.strictSame(await rawStarts(), keptDays)
  t.strictSame(await hours(porch, again.expiredBeforeUs()), porchHours)
})

t.test('readings and their custom values go together, wherever a run is killed', async t => {
  await killThenEnd(t, 0, 'sent')
  await killThenEnd(t, 12, 'before')
})

/** Two nodes on one QuestDB and one PostgreSQL: one makes days expire, the other one knows before they go. */
let leader = 'a'
/** Called before each statement of the node. */
let asked = (_name: string, _sql: string) => {}

/** A connection that passes each statement on so much later. */
async function connect(slowMs: number) {
  const made = await store.connectPostgres()
  const query = made.query.bind(made) as (given: unknown) => Promise<never>
  made.query = (async (given: unknown) => {
    await sleep(slowMs)
    return await query(given)
  }) as typeof made.query
  return made
}

async function openNode(name: string, checkEveryMs: number, slowMs = 0) {
  const pool = store.postgres
  const node = await openNodes({
    ...{ pool, leaseMs: 60_000, role: 'api', version: '0', host: 'test', advised: {}, settings: {}, log: silentLog },
    connect: () => connect(slowMs),
    onFatal: error => t.fail(error.message),
  })
  const { feed } = node
  const acceptedFrom = await openAcceptedFrom({ pool, days, nowMs: Date.now, feed })
  const execOfNode = async (sql: string) => {
    asked(name, sql)
    return await exec(sql)
  }
  const retention = openRetention({
    ...{ days, acceptedFrom, nowMs: Date.now, log: silentLog },
    replicas: [
      {
        number: 1,
        questdb: store.questdb,
        readings: { ...ingest.replicas[0], endOfAll: ingest.endOfAll },
        exec: execOfNode,
      },
    ],
    nodes: createRetentionNodes({ pool, feed, leads: () => leader === name }),
    timing: { checkEveryMs, marginMs: 0, graceMs: 0, knownMs: 1 },
  })
  await node.join()
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await retention.close()
    await node.close()
  }
  t.teardown(close)
  await until('it knows the expired days', () => retention.isKnown())
  return { ...retention, close }
}

const oldestMs = async () => (await rawStarts())[0]

t.test('a node that does not look knows of each day before its readings go', async t => {
  await reset()
  await send(porch)
  const a = await openNode('a', 60)
  await until('days wait', () => a.state().waiting !== undefined)
  // It looks once.
  const b = await openNode('b', 3_600_000, 300)
  t.equal(b.expiredBeforeUs(), Number.NEGATIVE_INFINITY)
  const known: [number, number][] = []
  const changes: string[] = []
  asked = (name, sql) => {
    if (name === 'b' && /^(INSERT|ALTER)/.test(sql)) changes.push(sql)
    if (sql.startsWith('ALTER TABLE readings ')) known.push([a.expiredBeforeUs(), b.expiredBeforeUs()])
  }
  t.equal(await b.confirm(beforeMs + dayMs), false, 'more than waits')
  t.equal(await b.confirm(firstDay + dayMs), true, 'by the one that does not lead')
  await until('the day is gone', async () => (await oldestMs()) === firstDay + dayMs)
  const first = (firstDay + dayMs) * 1000
  t.strictSame(known[0], [first, first])
  await until('the rest waits', () => a.state().waiting?.fromMs === firstDay + dayMs)

  // The node loses the lead in the middle of its statements.
  asked = (name, sql) => {
    if (name === 'a' && sql.startsWith('INSERT INTO readings_expired')) leader = 'nobody'
    if (name === 'a' && leader !== 'a' && /^(INSERT|ALTER)/.test(sql) && !sql.includes('readings_expired'))
      changes.push(sql)
  }
  t.equal(await a.confirm(beforeMs), true)
  await until('it stops', () => leader === 'nobody')
  const { lastRunMs } = a.state()
  await sleep(200)
  t.equal(await oldestMs(), firstDay + dayMs)
  t.equal(a.state().lastRunMs, lastRunMs, 'it follows')
  t.equal(a.state().fault, undefined)
  await b.close()
  leader = 'c'
  const c = await openNode('c', 60)
  asked = () => {}
  await until('the next one goes on', async () => (await oldestMs()) === beforeMs)
  t.equal(c.expiredBeforeUs(), beforeMs * 1000)
  t.equal(a.expiredBeforeUs(), beforeMs * 1000)
  t.strictSame(changes, [])
  await until('both report the same', () => a.state().expiredDays === c.state().expiredDays)
})

t.test('a node without peers knows nothing before its first check', async t => {
  leader = 'nobody'
  const d = await openNode('d', 3_600_000)
  t.ok(d.isKnown())
  await d.close()
  t.notOk(d.isKnown())
})

/** The time from which readings are accepted. */
const june = Date.UTC(2026, 5, 15)
let clockMs = june + 12 * 3_600_000
const openAccepted = (days: number | undefined) =>
  openAcceptedFrom({ pool: store.postgres, days, nowMs: () => clockMs })

t.test('without the setting nothing is refused', async t => {
  await store.postgres.query('DELETE FROM retention')
  const accepted = await openAccepted(undefined)
  t.equal(accepted.ms(), Number.NEGATIVE_INFINITY)
  t.equal(accepted.isLimited(), false)
})

t.test('so many whole days before today are accepted, as the clock goes', async t => {
  const accepted = await openAccepted(30)
  t.equal(accepted.ms(), june - 30 * dayMs)
  t.equal(accepted.isLimited(), true)
  clockMs = june + dayMs - 1
  t.equal(accepted.ms(), june - 30 * dayMs)
  clockMs = june + dayMs
  t.equal(accepted.ms(), june - 29 * dayMs)
  clockMs = june
  t.equal((await openAccepted(1)).ms(), june - dayMs)
})

t.test('a raised bound never falls: by a clock set back, more days, no setting, or a lower value', async t => {
  clockMs = june
  const accepted = await openAccepted(10)
  await accepted.raise(june - 10 * dayMs)
  await accepted.raise(june - 20 * dayMs)
  clockMs = june - 5 * dayMs
  t.equal(accepted.ms(), june - 10 * dayMs, 'the clock was set back')
  for (const days of [100, undefined]) {
    const later = await openAccepted(days)
    t.equal(later.ms(), june - 10 * dayMs, String(days))
    t.equal(later.isLimited(), true)
  }
  const first = await openAccepted(100)
  const second = await openAccepted(100)
  await first.raise(june - dayMs)
  await second.raise(june - 2 * dayMs)
  t.equal((await openAccepted(100)).ms(), june - dayMs, 'another process has raised it further')
})

t.test('the later answer of two concurrent calls lowers nothing', async t => {
  const answers: (() => void)[] = []
  const query = async () => await new Promise<void>(resolve => answers.push(resolve))
  const accepted = await openAcceptedFrom({
    pool: { query: async () => ({ rows: [] }) } as never,
    feed: { ...noFeed, commit: (_options, work) => work({ query } as never) },
    days: 100,
    nowMs: () => june,
  })
  const both = [1, 2].map(days => accepted.raise(june - days * dayMs))
  for (const answer of answers) answer()
  await Promise.all(both)
  t.equal(accepted.ms(), june - dayMs)
})
