/** Analyses by the hour of the five gauges and of custom gauges, with a reason where a figure is missing. */

import { test } from 'tap'
import type { z } from 'zod'
import { reasons } from '../../../analytics/reasons.ts'
import { answerChanges, LevelChanges } from '../../../query/analyses/changes.ts'
import type { DomainQuery } from '../../../query/analyses/domain.ts'
import { answerDomain } from '../../../query/analyses/domain.ts'
import { answerForecast } from '../../../query/analyses/forecast.ts'
import { answerNormal } from '../../../query/analyses/normal.ts'
import { DomainFigures } from '../../../query/shapes/domain.ts'
import { Forecast } from '../../../query/shapes/forecast.ts'
import { NormalValues } from '../../../query/shapes/normal.ts'
import { autoregressive, dayMs, hourMs } from '../../analytics/series.ts'
import { validated } from '../../support/answer-shapes.ts'
import { contextOf, hoursQuery, type MadeHours } from './hours-of.ts'

const nowMs = Date.UTC(2026, 4, 20, 10, 20)

const noise = autoregressive(200 * 24, 0.5, 3)
const noiseAt = (startMs: number) => noise[Math.floor((nowMs - startMs) / hourMs) % noise.length] as number
const day = (startMs: number) => Math.sin((2 * Math.PI * startMs) / dayMs)

// biome-ignore lint/suspicious/noExplicitAny: an answer is read as a client reads it, without our types
type Answer = any

const query = { ...hoursQuery, nowMs }
const answerIn = async (shape: z.ZodType, text: Promise<string>): Promise<Answer> =>
  validated(shape, JSON.parse(await text))
const changesOf = (made: MadeHours, days = 60) =>
  answerIn(LevelChanges, answerChanges({ ...query, days }, contextOf(made)))
const normalOf = (made: MadeHours) => answerIn(NormalValues, answerNormal(query, contextOf(made)))
const forecastOf = (made: MadeHours) => answerIn(Forecast, answerForecast(query, contextOf(made)))

test('changes: a step has its local day and both levels', async t => {
  const stepMs = Date.parse('2026-04-30T22:00Z')
  const answer = await changesOf({
    timeZone: 'Europe/Berlin',
    temperature: startMs => 20 + 3 * day(startMs) + 0.3 * noiseAt(startMs) + (startMs >= stepMs ? 2 : 0),
    co2: startMs => 500 + noiseAt(startMs),
  })
  t.equal(answer.time_zone, 'Europe/Berlin')
  const [change, ...others] = answer.temperature.changes
  t.strictSame(others, [])
  t.equal(change.date, '2026-05-01')
  t.ok(Math.abs(change.before - 20) < 0.2 && Math.abs(change.after - 22) < 0.2 && Math.abs(change.shift - 2) < 0.2)
  t.match(change, { days_before: 41, days_after: 19 })
  t.match(answer.co2, { status: 'ok', reason: null, changes: [] })
  t.match(answer.humidity, { status: 'no_data', reason: reasons.noValue })
  t.equal(answer.door, undefined, 'a state has no level')
  t.match(answer.metrics, { co2: { kind: 'gauge', unit: 'ppm' } })
  t.match((await changesOf({ temperature: day }, 19)).temperature, { reason: reasons.fewLevels })
  t.match((await changesOf({ temperature: () => 20 })).temperature, { status: 'constant' })
})

test('normal: the newest hour among the same hours of other days', async t => {
  const sinceMs = nowMs - 30 * dayMs
  const temperature = (startMs: number) => {
    if (startMs < sinceMs) return Number.NaN
    // The running hour has a part of its values, like a morning that is still cold.
    if (startMs > nowMs - hourMs) return -1000
    return day(startMs) + Math.floor(startMs / dayMs)
  }
  const { temperature: found, humidity } = await normalOf({ temperature })
  t.match(found, { status: 'ok', at: '2026-05-20 09:00', percentile: 100, basis: 'hour', days: 29 })
  t.match(found, { days_lower: 29, days_equal: 0 })
  t.ok(Math.abs(found.value - found.median - 15) < 1e-9, 'the median of the 29 days before is 15 less')
  t.match(humidity, { status: 'no_data', value: null, at: null, days: 0 })
  const young = (startMs: number) => (startMs < nowMs - 8 * dayMs ? Number.NaN : 20)
  t.match((await normalOf({ co2: young })).co2, { reason: reasons.fewSameHours, value: 20, percentile: null })
})

test('normal: from a year on only the season counts', async t => {
  const year = (startMs: number) => -10 * Math.cos((2 * Math.PI * startMs) / (365.25 * dayMs)) + 0.1 * noiseAt(startMs)
  const { temperature } = await normalOf({ temperature: year })
  t.equal(temperature.basis, 'hour_and_season')
  t.ok(temperature.low > 3 && temperature.days > 80, 'winters do not count in May')
})

test('forecast: 48 hours from the running one, with intervals that hold each other', async t => {
  const answer = await forecastOf({
    temperature: startMs => 20 + 3 * day(startMs) + 0.3 * noiseAt(startMs),
    humidity: startMs => 99 + 2 * day(startMs) + noiseAt(startMs),
    co2: startMs => (startMs < nowMs - 10 * dayMs ? Number.NaN : 500 + noiseAt(startMs)),
  })
  const { hours, back_test } = answer.temperature
  t.equal(hours.length, 48)
  t.match(hours[0], { t: Date.UTC(2026, 4, 20, 10), d: '2026-05-20 10:00' })
  for (const { t: startMs, median, low80, high80, low95, high95 } of hours) {
    t.ok(low95 <= low80 && low80 <= median && median <= high80 && high80 <= high95)
    t.ok(Math.abs(median - 20 - 3 * day(startMs)) < 0.8)
  }
  t.ok(back_test.origins > 30 && back_test.mase_ratio < 1)
  for (const { high95 } of answer.humidity.hours) t.ok(high95 <= 100, 'no more than there can be')
  t.match(answer.co2, { status: 'insufficient_data', reason: reasons.shortHistory, hours: [], back_test: null })
  const slow = (startMs: number) => ((startMs / hourMs) % 2 === 0 ? noiseAt(startMs) : Number.NaN)
  t.equal((await forecastOf({ temperature: slow })).temperature.status, 'ok', 'a device with steps of 2 h')
  const sparse = (startMs: number) => ((startMs / hourMs) % 24 < 13 ? Number.NaN : noiseAt(startMs))
  t.match((await forecastOf({ temperature: sparse })).temperature, { reason: reasons.sparseHours })
})

const domainOf = (made: MadeHours, asked: Partial<DomainQuery>) =>
  answerIn(DomainFigures, answerDomain({ ...query, custom: [], days: 3, ...asked }, contextOf(made)))

const { device } = hoursQuery
const indoor = { device: { ...device, profile: 'indoor' as const } }

test('domain: local days fill the range with sums that equal its figures', async t => {
  const made = { temperature: day, humidity: () => 50, timeZone: 'Asia/Kolkata' }
  const weather = { device: { ...device, profile: 'weather' as const } }
  const found = await domainOf(made, { ...weather, days: 3 })
  t.match(found, { profile: 'weather', indoor: null, cold_chain: null, greenhouse: null, end: '2026-05-20 15:30' })
  const { total, days } = found.weather
  t.equal(days.map(({ date }: Answer) => date).join(), '2026-05-18,2026-05-19,2026-05-20')
  const sum = (of: (one: Answer) => number) => days.reduce((all: number, one: Answer) => all + of(one), 0)
  const [hours, observed] = [sum(({ frost }) => frost.hours), sum(({ frost }) => frost.observed_hours)]
  t.match(total.frost, { hours, observed_hours: observed })
  t.equal(days[1].frost.observed_hours, 24)
  t.equal(total.degree_days.days, 2, 'the running day has too few hours')
  t.ok(Math.abs(total.degree_days.heating_15_5 - 31) < 0.01)
  t.equal(total.sea_level_pressure.reason, reasons.noAltitude)
})

test('domain: an explicit range, days with a clock change, and no profile', async t => {
  const made = { temperature: () => 27, humidity: () => 50, timeZone: 'Europe/Zurich' }
  const march = { startMs: Date.parse('2026-03-28T12:20Z'), nowMs: Date.parse('2026-03-31T00:00Z'), days: 2.5 }
  const found = await domainOf(made, { ...indoor, ...march })
  t.match(found, { start: '2026-03-28 13:00', end: '2026-03-31 02:00' })
  t.equal(found.indoor.days.map((one: Answer) => one.temperature.hours_above).join(), '11,23,24,2')
  t.match(found.indoor.total, { temperature: { hours_above: 60, below: 20, above: 26 }, humidity: { hours_above: 0 } })
  const none = { profile: 'none', weather: null, indoor: null, cold_chain: null, greenhouse: null }
  t.match(await domainOf(made, {}), none)
})

test('domain: a cold chain of readings, and of hours beyond a month', async t => {
  const cold = { device: { ...device, profile: 'pharmacy' as const, expected_interval_seconds: 300 } }
  const count = (3 * dayMs) / 300_000
  const timesMs = Float64Array.from({ length: count }, (_, at) => nowMs - (count - at) * 300_000)
  const missing = new Float64Array(count).fill(Number.NaN)
  const columns = { humidity: missing, pressure: missing, battery_voltage: missing, battery_percentage: missing }
  const readings = { timesMs, values: { ...columns, temperature: timesMs.map((_, at) => (at % 2 === 0 ? 9 : 5)) } }
  const { cold_chain: of } = await domainOf({ readings }, { ...cold, days: 2 })
  t.ok(Math.abs(of.total.temperature.hours_above - of.total.temperature.observed_hours / 2) < 0.1)
  t.match(of.total, { temperature: { min: 5, max: 9 }, defrosts: { count: null } })
  t.ok(Math.abs(of.total.temperature.mean - 7) < 1e-9)
  t.ok(of.total.mean_kinetic_temperature.value > 7)
  t.equal(of.days.length, 2)
  const { cold_chain: ofHours } = await domainOf({ temperature: () => 5 }, { ...cold, days: 40 })
  t.match(ofHours.total, { temperature: { hours_above: 0 }, door_openings: { reason: reasons.longRange } })
  t.ok(Math.abs(ofHours.total.mean_kinetic_temperature.value - 5) < 1e-9)
  const free = { device: { ...cold.device, profile: 'cold_chain' as const }, days: 40 }
  const { cold_chain: without } = await domainOf({ temperature: () => -18 }, free)
  t.match(without.total.temperature, { reason: null, mean: -18, below: null, above: null, hours_above: null })
})
