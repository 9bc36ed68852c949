/** Values of custom metrics that expire with their readings in a real QuestDB: hourly answers before and after. */

import t, { type Test } from 'tap'
import { createLocalTime } from '../../../../analytics/time/local-time.ts'
import { answerCompare } from '../../../../query/analyses/compare.ts'
import { answerDetail } from '../../../../query/analyses/detail.ts'
import type { CustomMetric } from '../../../../query/custom-metric.ts'
import { listRawDays } from '../../../../service/lifecycle/retention/expired-days.ts'
import { expiringMeasurements } from '../../../../service/lifecycle/retention/expiring-tables.ts'
import { dayMs } from '../../../../service/lifecycle/retention/horizon.ts'
import { createQuestdbClient } from '../../../../store/questdb/client/questdb-client.ts'
import { untilTableApplied } from '../../../../store/questdb/until-applied.ts'
import { startCustomReadings } from '../../../support/custom-readings.ts'
import { openMeasurementsSource, openReadingsSource } from '../../../support/readings-source.ts'
import { createExpiry } from './expiring-process.ts'

const world = await startCustomReadings(t)
const { address } = world.store.questdb
const client = createQuestdbClient(address.http)
t.teardown(() => client.close())
const exec = (sql: string) => client.exec(sql, 30_000)
const pause = () => new Promise<void>(resolve => setTimeout(resolve, 10))
const context = {
  source: openReadingsSource(t, address),
  measurements: openMeasurementsSource(t, address),
  inUnits: async (custom: readonly CustomMetric[]) => custom,
  local: createLocalTime('UTC'),
  rowsMax: 1e6,
  signal: new AbortController().signal,
}

const startMs = Date.UTC(2025, 9, 29)
const dayCount = 5
const expiredMs = startMs + 3 * dayMs
const nowMs = startMs + dayCount * dayMs - 1
const stepMs = 600_000
const names = ['co2', 'energy', 'wind_direction', 'shower_amount', 'pump']
await world.addMetric({ name: 'co2' })
await world.addMetric({ name: 'energy', kind: 'counter', unit: 'kW.h' })
await world.addMetric({ name: 'wind_direction', kind: 'direction', unit: 'deg' })
await world.addMetric({ name: 'shower_amount', kind: 'rate', unit: 'mm' })
await world.addMetric({ name: 'pump', kind: 'state' })

/** The counter restarts sometimes, at most once an hour. The pump changes at full hours. */
function valuesAt(index: number) {
  const hour = Math.floor(index / 6)
  return {
    temperature: 20,
    co2: 400 + ((index * 37) % 200),
    energy: (index % 50) * 0.25,
    wind_direction: (340 + ((index * 13) % 60)) % 360,
    shower_amount: index % 7 === 0 ? 0.2 * (index % 5) : 0,
    pump: Math.floor(hour / 5) % 2,
  }
}

const porch = await world.addDevice('porch', { expected_interval_seconds: 600 })
const roof = await world.addDevice('roof', { expected_interval_seconds: 600 })
const readingsOf = (shift: number) =>
  Array.from({ length: (dayCount * dayMs) / stepMs }, (_, index) => {
    return [startMs + index * stepMs, valuesAt(index + shift)] as const
  })
await world.send(porch, readingsOf(0))
await world.send(roof, readingsOf(12))
await world.applied()

function customOf({ number }: { number: number }): CustomMetric[] {
  return names.flatMap(name => {
    const metric = world.metrics.get(name)
    const series = metric && world.metrics.series(number, metric)
    if (metric === undefined || series === undefined) throw new Error(`there is no series of ${name}`)
    const { title, kind, unit, decimals, quality } = metric
    return { name, title, kind, unit, decimals, quality, series, column: undefined, speed: undefined }
  })
}

type Point = Record<string, unknown>

async function detailOf(expiredBeforeUs: number): Promise<Record<string, Point[]>> {
  const hourSources = { rawFromUs: Number.NEGATIVE_INFINITY, expiredBeforeUs }
  const how = { points: undefined, withTimes: true, withFlags: false, custom: customOf(porch) }
  const text = await answerDetail({ device: porch, nowMs, hourSources, ...how }, context)
  return JSON.parse(text).last_30d_hourly
}

async function compareOf(expiredBeforeUs: number): Promise<unknown> {
  const [ofA, ofB] = [customOf(porch), customOf(roof)]
  const custom = ofA.map((a, place) => ({ a, b: ofB[place] as CustomMetric }))
  const hourSources = { rawFromUs: Number.NEGATIVE_INFINITY, expiredBeforeUs }
  const times = { nowMs, newestUs: nowMs * 1000, withTimes: true, preset: '7d' as const }
  const query = { a: porch, b: roof, custom, hourSources, ...times }
  return JSON.parse(await answerCompare(query, context))
}

/** Sums in another order differ in their last digits. */
const roundedMember = (_: string, member: unknown) =>
  typeof member === 'number' ? Number(member.toPrecision(9)) : member
const rounded = (value: unknown): unknown => JSON.parse(JSON.stringify(value, roundedMember))

const never = Number.NEGATIVE_INFINITY
const before = { detail: await detailOf(never), compare: await compareOf(never) }
t.ok(
  names.every(name => JSON.stringify(before.compare).includes(`"${name}":{"kind"`)),
  'a comparison has them all',
)

const daysOf = async (table?: typeof expiringMeasurements) => (await listRawDays(exec, table)).map(day => day.startMs)

async function isSame(t: Test): Promise<void> {
  const detail = await detailOf(expiredMs * 1000)
  const withoutTime = (points: Point[] = []) => points.map(({ max_at: _, ...point }) => point)
  for (const name of names) {
    t.strictSame(rounded(withoutTime(detail[name])), rounded(withoutTime(before.detail[name])), name)
    t.ok((detail[name] ?? []).length >= dayCount * 24 - 1, `${name} has all hours`)
  }
  t.strictSame(rounded(await compareOf(expiredMs * 1000)), rounded(before.compare), 'a comparison')
}

t.test('hours of custom metrics stay the same when a day is marked and its values are removed', async t => {
  const expiry = createExpiry(exec, expiredMs)
  await expiry.look()
  await expiry.expire(expiredMs, pause)
  t.equal(expiry.expiredBeforeMs, expiredMs)
  await isSame(t)
  t.equal((await expiry.remove(pause)).length, 3)
  const kept = [startMs + 3 * dayMs, startMs + 4 * dayMs]
  t.strictSame(await daysOf(), kept)
  t.strictSame(await daysOf(expiringMeasurements), kept)
  await isSame(t)
})

t.test('values of days that expired under an earlier version are removed while their hours stay', async t => {
  // That version removed the readings and recorded nothing of the values.
  for (const table of ['measurements_hours', 'measurements_expired']) await exec(`DROP TABLE ${table}`)
  const values = readingsOf(0).slice(0, 3 * 144)
  for (const name of names) {
    const series = customOf(porch).find(metric => metric.name === name)?.series
    const rows = values.map(([timeMs, one]) => {
      return `('${new Date(timeMs).toISOString()}', ${series}, ${one[name as keyof typeof one]})`
    })
    for (let from = 0; from < rows.length; from += 100) {
      await exec(`INSERT INTO measurements VALUES ${rows.slice(from, from + 100).join(', ')}`)
    }
  }
  await untilTableApplied(exec, 'measurements', pause)
  const expiry = createExpiry(exec, expiredMs)
  await expiry.look()
  t.equal(expiry.expiredBeforeMs, expiredMs)
  t.strictSame(await expiry.remove(pause), [], 'no readings were removed')
  t.strictSame(await daysOf(expiringMeasurements), [startMs + 3 * dayMs, startMs + 4 * dayMs])
  const detail = await detailOf(expiredMs * 1000)
  for (const name of ['co2', 'energy', 'pump']) t.strictSame(rounded(detail[name]), rounded(before.detail[name]), name)
})

t.test('wrong hours of values are not marked', async t => {
  const beforeMs = expiredMs + dayMs
  const losing = (sql: string) =>
    exec(sql.startsWith('INSERT INTO measurements_hours') ? sql.replace('max(value)', 'min(value)') : sql)
  const broken = createExpiry(losing, beforeMs)
  await broken.look()
  await t.rejects(broken.expire(beforeMs, pause), /the hours of 2025-11-01 differ from its measurements/)
  t.equal((await exec('SELECT count() FROM readings_expired'))[0]?.[0], 3)
})

t.test('values replayed into a day that expired without custom values do not count in its hours', async t => {
  const dayStartMs = startMs + dayCount * dayMs
  const noon = new Date(dayStartMs + dayMs / 2).toISOString()
  const [co2] = customOf(porch)
  const addReading = `INSERT INTO readings (ts, device, temperature) VALUES ('${noon}', '${porch.symbol}', 20)`
  await exec(addReading)
  await untilTableApplied(exec, 'readings', pause)
  const beforeMs = dayStartMs + dayMs
  const expiry = createExpiry(exec, beforeMs)
  await expiry.look()
  await expiry.expire(beforeMs, pause)
  t.equal(expiry.expiredBeforeMs, beforeMs)
  // The first replay precedes the removal of the partition, and the second follows it.
  for (let replay = 0; replay < 2; replay++) {
    await exec(addReading)
    await exec(`INSERT INTO measurements VALUES ('${noon}', ${co2?.series}, 999)`)
    for (const table of ['readings', 'measurements']) await untilTableApplied(exec, table, pause)
    await expiry.remove(pause)
    t.strictSame([await daysOf(), await daysOf(expiringMeasurements)], [[], []], 'it is removed')
    const ofDay = `WHERE ts >= '${new Date(dayStartMs).toISOString()}'`
    t.strictSame(await exec(`SELECT count(), sum(temperature_count) FROM readings_hours ${ofDay}`), [[1, 1]])
    t.strictSame(await exec(`SELECT count() FROM measurements_hours ${ofDay}`), [[0]], 'as with a day that had values')
  }
})
