/** Days that expire in a real QuestDB have the same hours before and after, from each source. */

import fc from 'fast-check'
import pg from 'pg'
import t from 'tap'
import { createLocalTime } from '../../../../analytics/time/local-time.ts'
import { answerCompare } from '../../../../query/analyses/compare.ts'
import type { HourlySeries } from '../../../../query/series.ts'
import * as expired from '../../../../service/lifecycle/retention/expired-days.ts'
import { expiringReadings } from '../../../../service/lifecycle/retention/expiring-tables.ts'
import { createQuestdbClient } from '../../../../store/questdb/client/questdb-client.ts'
import { ensureExpiryTables } from '../../../../store/questdb/questdb-tables.ts'
import { hourlyAggregates, hourlyView, hourlyViewSql, metrics } from '../../../../store/tables.ts'
import { until } from '../../../support/processes.ts'
import { startQuestdb, type TestReading } from '../../../support/questdb.ts'
import { openMeasurementsSource, openReadingsSource } from '../../../support/readings-source.ts'
import { runs } from '../../../support/runs.ts'

const questdb = await startQuestdb(t)
const { address } = questdb
const client = createQuestdbClient(address.http)
t.teardown(() => client.close())
const exec = (sql: string) => client.exec(sql, 30_000)
const pause = () => new Promise<void>(resolve => setTimeout(resolve, 10))
const source = openReadingsSource(t, address)
const measurements = openMeasurementsSource(t, address)

const { dropDays, expireDay, hasAllHours, listRawDays, readExpiredBeforeMs } = expired
const never = new AbortController().signal
const dayMs = 86_400_000
const hourUs = 3_600_000_000
const startMs = Date.UTC(2025, 9, 29)
const dayCount = 6
/** The range spans the end of a month, which is a partition of the kept hours. */
const expiredMs = startMs + 4 * dayMs
const infinity = Number.POSITIVE_INFINITY

function readingAt(symbol: string, index: number): TestReading {
  const time = new Date(startMs + index * 607_000).toISOString()
  const wave = (scale: number) => Math.round(Math.sin(index * scale) * 1000) / 100
  return {
    symbol,
    time,
    temperature: wave(1.1),
    pressure: 1000 + wave(0.3),
    ...(index % 5 === 0 ? {} : { humidity: 50 + wave(1.7) }),
    ...(index % 50 === 0 ? { battery_voltage: 3.3 } : {}),
  }
}

const perDevice = (dayCount * dayMs) / 607_000
const all = ['a-1', 'b-2'].flatMap(symbol => Array.from({ length: perDevice }, (_, index) => readingAt(symbol, index)))
/** One device has been silent since the first day. The erased one has rows without values left. */
const silent = [{ symbol: 'c-3', time: new Date(startMs + 5.5 * 3_600_000).toISOString(), humidity: 40 }]
const erased = [{ symbol: 'd-4', time: new Date(startMs + 60_000).toISOString() }]
await questdb.write([...all, ...silent, ...erased])
/** The check of the view may create it first. */
const createView = hourlyViewSql.replace('VIEW', 'VIEW IF NOT EXISTS')
await exec(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
await exec(createView)

function hoursOf(symbol: string, fromUs: number, toUs: number, rawFromUs: number, expiredBeforeUs: number) {
  return source.hourly({ symbol, fromUs, toUs, rawFromUs, expiredBeforeUs }, never)
}

/** Sums in another order differ in their last digits. */
function textOf({ startsMs, metrics: columns }: HourlySeries): string[] {
  return [...startsMs].map((hourMs, row) => {
    const valuesOf = (column: HourlySeries['metrics'][(typeof metrics)[number]]) =>
      hourlyAggregates.map(aggregate => column[aggregate][row] as number)
    const values = metrics.flatMap(metric => valuesOf(columns[metric]))
    return [new Date(hourMs).toISOString(), ...values.map(value => value.toPrecision(9))].join(' ')
  })
}

const context = { source, measurements, local: createLocalTime('UTC'), rowsMax: 1e6, signal: never }
const hourSources = (expiredBeforeUs: number) => ({ rawFromUs: Number.NEGATIVE_INFINITY, expiredBeforeUs })

function compareOf(expiredBeforeUs: number): Promise<string> {
  const range = { preset: '24h' as const, nowMs: startMs + dayCount * dayMs, newestUs: startMs * 1000 + 1e15 }
  const devices = { a: deviceOf('c-3'), b: deviceOf('nobody-9'), custom: [] }
  const query = { ...devices, ...range, withTimes: true, hourSources: hourSources(expiredBeforeUs) }
  return answerCompare(query, context)
}

function deviceOf(symbol: string) {
  const battery = { battery_type: null, battery_cells: null, profile: 'none' as const }
  const none = { altitude_m: null, expected_interval_seconds: null, quality_limits: null, ...battery }
  return { number: 1, symbol, name: symbol, location_short: '', log_switch: true, ...none }
}

const before = new Map<string, string[]>()
const whole = [startMs * 1000, (startMs + dayCount * dayMs) * 1000] as const
for (const symbol of ['a-1', 'b-2', 'c-3']) {
  before.set(symbol, textOf(await hoursOf(symbol, ...whole, -infinity, -infinity)))
}
const comparedBefore = await compareOf(-infinity)

t.test('a day is marked when its hours equal its readings, in spite of older kept hours', async t => {
  await ensureExpiryTables({ exec })
  await ensureExpiryTables({ exec })
  t.equal(await readExpiredBeforeMs(exec), -infinity)
  const days = await listRawDays(exec)
  t.equal(days.length, dayCount)
  t.ok(days.every((day, index) => day.startMs === startMs + index * dayMs))
  const [first, ...others] = days
  if (first === undefined) throw new Error('no day')
  // An interrupted run, before a reading was replaced, left this hour.
  const hour = new Date(first.startMs).toISOString()
  await exec(
    `INSERT INTO readings_hours (ts, device, temperature_count, temperature_max) VALUES ('${hour}', 'a-1', 99, 1)`,
  )
  await expireDay(exec, first, pause)
  t.equal(await readExpiredBeforeMs(exec), first.startMs + dayMs)
  for (const day of others) if (day.startMs < expiredMs) await expireDay(exec, day, pause)
  await expireDay(exec, first, pause)
  t.equal(await readExpiredBeforeMs(exec), expiredMs, 'an earlier day again does not set it back')
  const [row] = await exec("SELECT count() FROM readings_hours WHERE device = 'd-4'")
  t.strictSame(row, [0], 'nothing is kept of an erased device')
})

t.test('a day with wrong kept hours is not marked', async t => {
  const day = (await listRawDays(exec)).find(found => found.startMs === expiredMs)
  if (day === undefined) throw new Error('no day')
  let statements = 0
  const changing = (change: (sql: string) => string) => (sql: string) =>
    exec(sql.startsWith('INSERT INTO readings_hours') ? change(sql) : sql)
  // The rows of one statement never come.
  const losing = changing(sql => (statements++ === 0 ? sql.replace(/> 0$/, "> 0 AND device <> 'b-2'") : sql))
  await t.rejects(expireDay(losing, day, pause), /the hours of 2025-11-02 differ from its readings/)
  const wrong = changing(sql => sql.replace('max(temperature) temperature_max', 'min(temperature) temperature_max'))
  await t.rejects(expireDay(wrong, day, pause), /differ from its/)
  t.equal(await readExpiredBeforeMs(exec), expiredMs)
})

t.test('hours are the same by each mixture of their sources, before and after the readings are gone', async t => {
  const check = async () => {
    const hours = fc.integer({ min: -5, max: dayCount * 24 + 5 })
    const rawFrom = fc.oneof(fc.constant(-infinity), fc.constant(infinity), hours)
    const symbols = fc.constantFrom('a-1', 'b-2', 'c-3')
    const property = fc.asyncProperty(symbols, hours, hours, rawFrom, async (symbol, ...at) => {
      const [from, to, raw] = at.map(hour => startMs * 1000 + hour * hourUs) as [number, number, number]
      const found = textOf(await hoursOf(symbol, from, to, raw, expiredMs * 1000))
      const isIn = (text: string) => {
        const timeUs = Date.parse(text.slice(0, 24)) * 1000
        return timeUs >= from && timeUs < to
      }
      t.strictSame(found, (before.get(symbol) ?? []).filter(isIn))
    })
    await fc.assert(property, runs(8, 60))
  }
  await until('the view has all', async () => (await exec(`SELECT count() FROM ${hourlyView}`))[0]?.[0] !== 0)
  await check()
  await dropDays(exec, expiringReadings, expiredMs, pause)
  t.equal((await listRawDays(exec))[0]?.startMs, expiredMs)
  const sql = new pg.Client({ ...address.pg, ssl: false })
  await sql.connect()
  t.teardown(() => sql.end())
  await sql.query(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
  await sql.query(createView)
  await until('the view is rebuilt', async () => (await exec(`SELECT count() FROM ${hourlyView}`))[0]?.[0] !== 0)
  t.strictSame((await exec(`SELECT count() FROM ${hourlyView} WHERE ts < '2025-11-02'`))[0], [0])
  await check()
})

t.test('a comparison ends at the last reading of a device all of whose readings have expired', async t => {
  t.equal(await compareOf(expiredMs * 1000), comparedBefore)
  t.match(JSON.parse(comparedBefore), { end: '2025-10-29 05:00' })
})

t.test('a day that lost hours is seen', async t => {
  const day = { startMs, readings: 1 }
  t.equal(await hasAllHours(exec, expiringReadings, day), true)
  await exec(`INSERT INTO readings_expired VALUES ('${new Date(startMs).toISOString()}', 1, 1000)`)
  await until('it is applied', async () => (await hasAllHours(exec, expiringReadings, day)) === false)
  const unmarked = { startMs: expiredMs, readings: 1 }
  t.equal(await hasAllHours(exec, expiringReadings, unmarked), undefined, 'one that is not marked is not asked about')
})
