/** Readings that expire, against real databases: what goes, what stays, and a run that is killed at any of its steps. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { NewDevice } from '../../../auth/devices/device.ts'
import { openStations } from '../../../auth/stations/stations.ts'
import { createEraseJobs } from '../../../lifecycle/erasure/erase-jobs.ts'
import { createEraseSteps } from '../../../lifecycle/erasure/erase-steps.ts'
import { untilNoHoursAreKept } from '../../../lifecycle/erasure/kept-hours.ts'
import { openAcceptedFrom } from '../../../lifecycle/retention/accepted-from.ts'
import { listRawDays } from '../../../lifecycle/retention/expired-days.ts'
import { expiringMeasurements } from '../../../lifecycle/retention/expiring-tables.ts'
import { Expiry } from '../../../lifecycle/retention/expiry.ts'
import { dayMs } from '../../../lifecycle/retention/horizon.ts'
import { openRetention, type Retention, type RetentionOptions } from '../../../lifecycle/retention/retention.ts'
import type { ExpiringShard } from '../../../lifecycle/retention/retention-shard.ts'
import { createSharedLock } from '../../../lifecycle/retention/shared-lock.ts'
import type { Log } from '../../../store/log.ts'
import { createQuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { untilTableApplied } from '../../../store/questdb/until-applied.ts'
import { metrics } from '../../../store/tables.ts'
import { openParts } from '../../support/admin.ts'
import { recordingLog, silentLog, startDatabases } from '../../support/databases.ts'
import type { Kill } from '../../support/expiring-process.ts'
import { records } from '../../support/journal-parts.ts'
import { until } from '../../support/processes.ts'
import { openReadingsSource } from '../../support/readings-source.ts'

const { store } = await startDatabases(t)
await store.questdb.ready
const { ingest, pointsIngest, devices, metrics: registry } = await openParts(t, store)
for (const path of [ingest, pointsIngest]) path.startForwarding(store.questdb.address.http, true)
const { address } = store.questdb
const client = createQuestdbClient(address.http)
t.teardown(() => client.close())
const exec = (sql: string) => client.exec(sql, 30_000)
const pause = () => new Promise<void>(resolve => setTimeout(resolve, 10))
const source = openReadingsSource(t, address)

const today = Math.floor(Date.now() / dayMs) * dayMs
const days = 3
const dayCount = 6
const beforeMs = today - days * dayMs

async function addDevice(name: string): Promise<{ number: number; symbol: string }> {
  await devices.add([NewDevice.parse({ name })], 'test')
  const device = devices.get(name)
  if (device === undefined) throw new Error('the device was not made')
  return device
}

const porch = await addDevice('porch')
const roof = await addDevice('roof')

/** Some readings of each of the last days, at the same times whenever it is called. */
async function send(device: { number: number; symbol: string }): Promise<void> {
  for (let age = 0; age < dayCount; age++) {
    const noonUs = (today - age * dayMs - dayMs / 2) * 1000
    await ingest.append(records(device, [1 + age, 2 + age, 5 + age], noonUs, true))
    await ingest.append(records(device, [7 + age], noonUs + 7_200_000_000, true))
  }
  await until('all is applied', () => ingest.status().lag.rows === 0)
}

async function hours(device: { symbol: string }, expiredBeforeUs: number): Promise<string[]> {
  const range = { fromUs: (today - 10 * dayMs) * 1000, toUs: (today + dayMs) * 1000 }
  const from = { rawFromUs: Number.NEGATIVE_INFINITY, expiredBeforeUs }
  const found = await source.hourly({ symbol: device.symbol, ...range, ...from }, new AbortController().signal)
  return [...found.startsMs].map((startMs, row) => {
    const figures = metrics.map(metric => `${found.metrics[metric].count[row]}:${found.metrics[metric].mean[row]}`)
    return [new Date(startMs).toISOString(), ...figures].join(' ')
  })
}

/** As if nothing had ever expired. */
async function reset(): Promise<void> {
  for (const table of ['readings', 'measurements']) {
    for (const kept of ['hours', 'expired']) await exec(`DROP TABLE IF EXISTS ${table}_${kept}`)
    await exec(`TRUNCATE TABLE ${table}`)
  }
  await store.postgres.query('DELETE FROM retention')
}

/** An assertion that failed fails the test. */
const withoutBugs = (t: Test, log: Log): Log => ({
  ...log,
  warn: (...words: unknown[]) => {
    const [fields, text] = words as [{ reason?: string }, string]
    if (fields.reason?.startsWith('BUG')) t.fail(fields.reason)
    log.warn(fields, text)
  },
})

/** With nothing confirmed. */
async function openUnconfirmed(t: Test, more: Partial<RetentionOptions & ExpiringShard> = {}): Promise<Retention> {
  const kept = 'days' in more ? more.days : days
  const { nowMs = Date.now } = more
  const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days: kept, nowMs })
  const timing = { checkEveryMs: 20, marginMs: 0, graceMs: 0, ...more.timing }
  const retention = openRetention({
    days: kept,
    acceptedFrom,
    shards: [{ number: 1, questdb: store.questdb, exec, ingest, ...more }],
    nowMs: Date.now,
    ...more,
    log: withoutBugs(t, more.log ?? silentLog),
    timing,
  })
  t.teardown(() => retention.close())
  return retention
}

/** A person has confirmed what is due. */
async function open(t: Test, more: Partial<RetentionOptions & ExpiringShard> = {}): Promise<Retention> {
  const kept = 'days' in more ? more.days : days
  const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days: kept, nowMs: Date.now })
  if (kept !== undefined) await acceptedFrom.raise(today - kept * dayMs)
  return await openUnconfirmed(t, more)
}

const rawStarts = async () => (await listRawDays(exec)).map(({ startMs }) => startMs)
const keptDays = Array.from({ length: days }, (_, age) => today - dayMs * (age + 1)).toReversed()
const firstDay = today - dayCount * dayMs

await send(porch)
await send(roof)
const porchHours = await hours(porch, Number.NEGATIVE_INFINITY)
const roofHours = await hours(roof, Number.NEGATIVE_INFINITY)
t.equal(porchHours.length, 2 * dayCount)

t.test('days go as a whole, each is logged once, and the hours stay', async t => {
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

t.test('with more days, and without the setting, what has expired stays so and nothing else goes', async t => {
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
  t.strictSame(row, [3], 'no day expired anew')
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
  const jobs = createEraseJobs({
    devices,
    metrics: registry,
    stations,
    ingest: { readings: ingest, points: pointsIngest },
    store,
    log: silentLog,
    whileNoDayExpires,
  })
  t.teardown(() => jobs.close())
  await jobs.request('attic', 'test')
  await until('it is erased', async () => (await jobs.report('attic'))?.state === 'done')
  t.match(await jobs.report('attic'), { rows: days * 4, error: null })
  t.equal(erasing, 1)
  const of = `WHERE device = '${attic.symbol}'`
  const present = `${metrics.map(metric => `count(${metric}_count), count(${metric}_mean)`).join(', ')}`
  const [left] = await exec(`SELECT ${present} FROM readings_hours ${of}`)
  t.strictSame(
    left,
    metrics.flatMap(() => [0, 0]),
  )
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
  const steps = createEraseSteps({
    ingest: { readings: ingest, points: pointsIngest },
    shards: [
      {
        ...{ number: 1, questdb: store.questdb },
        async exec(sql) {
          if (!sql.includes('query_activity()')) return await exec(sql)
          if (++asked < 3) return [[1]]
          await endWhatIsLeft()
          return [[0]]
        },
      },
    ],
    log: silentLog,
    pause,
    settle: async () => undefined,
    signal: new AbortController().signal,
    noteValues: async (_, values) => values,
  })
  await steps.eraseAgain('readings', { numbers: [], symbols: [symbol], furtherSeries: [] })
  await endWhatIsLeft()
  await untilTableApplied(exec, 'readings_hours', pause)
  const left = `SELECT count(), count(temperature_count) FROM readings_hours WHERE device = '${symbol}'`
  t.strictSame(await exec(left), [[1, 0]])
})

t.test('QuestDB tells of hours that are being kept', async t => {
  const slow = '(SELECT max(rnd_double()) AS most FROM long_sequence(100000000))'
  const statement = `INSERT INTO readings_hours (ts, device, temperature_count)
    SELECT '2020-01-01'::timestamp, 'nobody-0', cast(most AS LONG) FROM ${slow}`
  let isOver = false
  const keeping = client.exec(statement, 120_000).catch(() => undefined)
  void keeping.then(() => {
    isOver = true
  })
  const text = "SELECT count() FROM query_activity() WHERE query LIKE 'INSERT INTO readings_hours %'"
  const isTold = async () => (await exec(text))[0]?.[0] === 1
  await until('it runs', async () => isOver || (await isTold()))
  t.equal(isOver, false)
  await untilNoHoursAreKept(exec, pause)
  t.equal(await isTold(), false)
  await keeping
})

t.test('no day expires beside an erase or a backup, nor before all that was accepted is applied', async t => {
  await reset()
  await send(porch)
  const lock = createSharedLock()
  let position = 10
  const status = {
    forwarder: { applied: 0 },
  }
  const raised: number[] = []
  const losses: ((reason: string) => void)[] = []
  const expiry = new Expiry({
    exec,
    lock,
    monotonicMs: () => performance.now(),
    graceMs: 0,
    acceptedFrom: { raise: async ms => void raised.push(ms), raisedMs: () => Math.max(...raised) },
    ingest: {
      status: () => status as never,
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
  const other = lock.shared(() => new Promise<void>(resolve => setTimeout(resolve, 50)))
  t.strictSame(await expiry.remove(pause), [])
  await other
  t.equal((await rawStarts())[0], firstDay)
  t.equal((await expiry.remove(pause)).length, 3)
})

t.test('a day is not removed before the queries have ended that count on it', async t => {
  await reset()
  await send(porch)
  const retention = await open(t, { timing: { checkEveryMs: 20, marginMs: 0, graceMs: 3_600_000 } })
  await until('days are marked', () => retention.expiredBeforeUs() === beforeMs * 1000)
  const { lastRunMs = 0 } = retention.state()
  await until('it looks again', () => (retention.state().lastRunMs ?? 0) > lastRunMs)
  t.equal((await rawStarts())[0], firstDay)
  await retention.close()
  const margin = await open(t, { days: 1, timing: { checkEveryMs: 20, marginMs: 3_600_000, graceMs: 3_600_000 } })
  await until('it looks', () => margin.state().lastRunMs !== undefined)
  t.equal(margin.expiredBeforeUs(), beforeMs * 1000, 'nor marked before the margin is over')
})

t.test('where readings never expire QuestDB is asked nothing', async t => {
  await reset()
  let asked = 0
  const counting = (sql: string) => {
    asked++
    return exec(sql)
  }
  const retention = await open(t, { days: undefined, exec: counting })
  await new Promise(resolve => setTimeout(resolve, 200))
  t.equal(asked, 0)
  t.equal(retention.isKnown(), true)
  t.equal(retention.expiredBeforeUs(), Number.NEGATIVE_INFINITY)
  t.match(retention.state(), { days: undefined, oldestDayMs: undefined, lastRunMs: undefined })
})

t.test('a failure is told, and the next look goes on', async t => {
  await reset()
  await send(porch)
  const { log, texts } = recordingLog('warn')
  let isBroken = true
  const broken = async (sql: string) => {
    if (isBroken && sql.startsWith('INSERT INTO readings_hours')) throw new Error('no space left')
    return await exec(sql)
  }
  const retention = await open(t, { log, exec: broken })
  await until('it is told', () => retention.state().fault === 'no space left')
  t.equal(retention.isKnown(), true, 'queries are answered meanwhile')
  const { lastRunMs = 0 } = retention.state()
  await until('it was tried again', () => (retention.state().lastRunMs ?? 0) > lastRunMs + 50)
  t.strictSame(texts, ['raw readings cannot expire, retrying'], 'once')
  isBroken = false
  await until('they are gone', () => retention.state().oldestDayMs === beforeMs)
  t.equal(retention.state().fault, undefined)
})

t.test('where QuestDB loses the mark of a day nothing is removed, and the next look goes on', async t => {
  await reset()
  await send(porch)
  let isLosing = true
  const losing = async (sql: string) => {
    return isLosing && sql.startsWith('INSERT INTO readings_expired') ? [] : await exec(sql)
  }
  const retention = await open(t, { exec: losing })
  await until('it is told', () => /^the mark of \d{4}-\d\d-\d\d is lost$/.test(retention.state().fault ?? ''))
  t.equal((await rawStarts())[0], firstDay)
  isLosing = false
  await until('they are gone', () => retention.state().oldestDayMs === beforeMs)
  t.equal(retention.state().fault, undefined)
})

/** A look that began after this call has ended. */
async function untilLooked(retention: Retention): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const { lastRunMs } = retention.state()
    await until('it looks', () => retention.state().lastRunMs !== lastRunMs)
  }
}

/** By a clock that can be set; times of receipt are those of the clock before. */
async function openByClock(
  t: Test,
  nowMs: () => number,
  more: Partial<RetentionOptions & ExpiringShard> = {},
): Promise<Retention> {
  await reset()
  await send(porch)
  // Before that no day expires.
  await until('it is known', () => ingest.status().forwarder.applied >= ingest.status().journal.end)
  let ticks = 0
  // Each look has a time of its own.
  return await openUnconfirmed(t, { ...more, nowMs: () => nowMs() + ticks++ / 1000 })
}

const newestMs = today - dayMs / 2 + 7_200_000
/** So many that the oldest day is the first one that is kept when the newest reading comes. */
const kept = dayCount - 1

t.test('a clock that is ahead makes nothing expire that the newest reading does not justify', async t => {
  const { log, texts } = recordingLog('warn')
  const clock = { ms: newestMs }
  const retention = await openByClock(t, () => clock.ms, { days: kept, log })
  await untilLooked(retention)
  const all = await rawStarts()
  t.equal(all.length, dayCount)
  for (const aheadMs of [dayMs / 2, 365 * dayMs]) {
    clock.ms = newestMs + aheadMs
    await untilLooked(retention)
    t.strictSame(await rawStarts(), all, `${aheadMs / 3_600_000} hours`)
    t.equal(retention.expiredBeforeUs(), Number.NEGATIVE_INFINITY)
  }
  const before = Math.floor(clock.ms / dayMs) * dayMs - kept * dayMs
  t.strictSame(retention.state().waiting, {
    fromMs: firstDay,
    beforeMs: before,
    days: dayCount,
    reason: 'several_days',
  })
  t.equal(texts.length, 1, 'it is told once')
  t.match(texts[0], `barograph retention confirm ${new Date(before).toISOString().slice(0, 10)}`)
  t.strictSame((await store.postgres.query('SELECT FROM retention')).rows, [], 'no more readings are refused for good')
  clock.ms = newestMs
  await untilLooked(retention)
  t.equal(retention.state().waiting, undefined)
})

t.test('readings of a clock that is a year ahead make only the day expire that is due', async t => {
  const yearMs = 365 * dayMs
  const clock = { ms: newestMs }
  const retention = await openByClock(t, () => clock.ms, { days: kept })
  await untilLooked(retention)
  clock.ms = newestMs + yearMs
  await ingest.append(records(porch, [1], clock.ms * 1000, true))
  await until('it is applied', () => ingest.status().lag.rows === 0)
  await untilLooked(retention)
  t.equal((await rawStarts()).length, dayCount + 1)
  t.match(retention.state().waiting, { days: dayCount, reason: 'several_days' })
})

t.test('one day that is due goes without a person, and the next one a day later', async t => {
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
  const retention = await openByClock(t, () => today)
  await untilLooked(retention)
  t.match(retention.state().waiting, { fromMs: firstDay, beforeMs, days: 3 })
  for (const wrong of [firstDay, beforeMs + dayMs]) t.equal(await retention.confirm(wrong), false)
  await untilLooked(retention)
  t.equal((await rawStarts()).length, dayCount)
  t.equal(await retention.confirm(firstDay + dayMs), true, 'a part of them')
  await until('that part is gone', () => retention.state().oldestDayMs === firstDay + dayMs)
  await until('the rest waits', () => retention.state().waiting?.fromMs === firstDay + dayMs)
  const margin = { checkEveryMs: 20, marginMs: 3_600_000, graceMs: 0 }
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

/** Values of one series beside the readings. */
async function measure(): Promise<void> {
  const rows = Array.from({ length: dayCount }, (_, age) => {
    return `('${new Date(today - age * dayMs - dayMs / 2).toISOString()}', 1, ${age})`
  })
  await exec(`INSERT INTO measurements VALUES ${rows.join(', ')}`)
  const isThere = async () => (await exec('SELECT count() FROM measurements'))[0]?.[0] === dayCount
  await until('the values are there', isThere)
}

async function kill(given: Kill): Promise<NodeJS.Signals | null> {
  const script = join(import.meta.dirname, '..', '..', 'support', 'expiring-process.ts')
  const parent = join(import.meta.dirname, '..', '..', 'support', 'end-with-parent.ts')
  const child = spawn(process.execPath, [`--import=${parent}`, script, JSON.stringify(given)], { stdio: 'inherit' })
  t.teardown(() => child.kill('SIGKILL'))
  const [, signal] = await once(child, 'exit')
  return signal
}

t.test('a run that is killed at any step is ended by the next, to the same rows', async t => {
  const ofDays = [1, 2, 3].flatMap(day => [`no values ${day}`, `hours ${day}`, `mark ${day}`])
  const statements = [...ofDays, 'drop']
  for (const [statement, name] of statements.entries()) {
    for (const when of ['before', 'sent', 'after'] as const) {
      const text = `${name}, ${when}`
      await reset()
      await send(porch)
      await send(roof)
      t.equal(await kill({ http: address.http, beforeMs, statement, when }), 'SIGKILL', text)
      // Some of it may still be sent again by the journal.
      if (when === 'after') await send(porch)
      const retention = await open(t)
      await until('it is ended', () => retention.state().oldestDayMs === beforeMs)
      t.strictSame(await rawStarts(), keptDays, text)
      t.strictSame(await hours(porch, retention.expiredBeforeUs()), porchHours, text)
      t.strictSame(await hours(roof, retention.expiredBeforeUs()), roofHours, text)
      t.strictSame(await exec('SELECT count() FROM readings_hours'), [[2 * 2 * 3]], text)
      t.strictSame(await exec('SELECT count(), sum(readings), sum(hours) FROM readings_expired'), [[3, 24, 12]], text)
      await retention.close()
    }
  }
})

t.test('readings and their further values go together, wherever a run is killed', async t => {
  const names = ['hours of values', 'their note', 'hours of readings', 'mark', 'drop of readings', 'drop of values']
  for (const [place, name] of names.entries()) {
    for (const when of ['before', 'after'] as const) {
      await reset()
      await send(porch)
      await measure()
      // Of the first of three days, and behind all of them.
      const statement = place < 4 ? place : 8 + place
      t.equal(await kill({ http: address.http, beforeMs, statement, when }), 'SIGKILL', `${name}, ${when}`)
      const left = (await listRawDays(exec, expiringMeasurements)).map(({ startMs }) => startMs)
      const raw = await rawStarts()
      t.ok(
        raw.every(startMs => left.includes(startMs)),
        `${name}, ${when}: no reading without its values`,
      )
      const retention = await open(t)
      const isOver = async () =>
        retention.expiredBeforeUs() === beforeMs * 1000 &&
        (await listRawDays(exec, expiringMeasurements))[0]?.startMs === beforeMs
      await until('it is ended', isOver)
      t.strictSame(await rawStarts(), keptDays, `${name}, ${when}`)
      t.strictSame(await exec('SELECT count(), sum(count) FROM measurements_hours'), [[3, 3]], `${name}, ${when}`)
      t.strictSame(await exec('SELECT count(), sum(hours) FROM measurements_expired'), [[3, 3]], `${name}, ${when}`)
      t.strictSame(await exec('SELECT count(), sum(hours) FROM readings_expired'), [[3, 6]], `${name}, ${when}`)
      await retention.close()
    }
  }
})
