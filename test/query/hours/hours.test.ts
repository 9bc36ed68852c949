/** The analyses by the hour: of the five and of further gauges, with a reason where there is no figure. */

import { test } from 'tap'
import { reasonTexts } from '../../../analytics/reasons.ts'
import { answerChanges } from '../../../query/hours/changes-answer.ts'
import { answerForecast } from '../../../query/hours/forecast-answer.ts'
import { answerNormal } from '../../../query/hours/normal-answer.ts'
import { LevelChanges } from '../../../query/shapes/changes.ts'
import { Forecast } from '../../../query/shapes/forecast.ts'
import { NormalValues } from '../../../query/shapes/normal.ts'
import { autoregressive } from '../../analytics/series.ts'
import { validated } from '../../support/answer-shapes.ts'
import { contextOf, hoursQuery, type MadeHours } from './hours-of.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const nowMs = Date.UTC(2026, 4, 20, 10, 20)

const noise = autoregressive(200 * 24, 0.5, 3)
const noiseAt = (startMs: number) => noise[Math.floor((nowMs - startMs) / hourMs) % noise.length] as number
const day = (startMs: number) => Math.sin((2 * Math.PI * startMs) / dayMs)

// biome-ignore lint/suspicious/noExplicitAny: an answer is read as a client reads it, without our types
type Answer = any

async function changesOf(made: MadeHours, days = 60): Promise<Answer> {
  const text = await answerChanges({ ...hoursQuery, days, nowMs }, contextOf(made))
  return validated(LevelChanges, JSON.parse(text))
}

async function normalOf(made: MadeHours): Promise<Answer> {
  return validated(NormalValues, JSON.parse(await answerNormal({ ...hoursQuery, nowMs }, contextOf(made))))
}

async function forecastOf(made: MadeHours): Promise<Answer> {
  return validated(Forecast, JSON.parse(await answerForecast({ ...hoursQuery, nowMs }, contextOf(made))))
}

test('changes: a step is told with its local day and both levels', async t => {
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
  t.match(answer.humidity, { status: 'no_data', reason: reasonTexts.noValue })
  t.equal(answer.door, undefined, 'a state has no level')
  t.match(answer.metrics, { co2: { kind: 'gauge', unit: 'ppm' } })
  t.match((await changesOf({ temperature: day }, 19)).temperature, { reason: reasonTexts.fewLevels })
  t.match((await changesOf({ temperature: () => 20 })).temperature, { status: 'constant' })
})

test('normal: the newest hour among the same hours of other days', async t => {
  const sinceMs = nowMs - 30 * dayMs
  const temperature = (startMs: number) => {
    if (startMs < sinceMs) return Number.NaN
    // One more than on each day before.
    return day(startMs) + Math.floor(startMs / dayMs)
  }
  const { temperature: found, humidity } = await normalOf({ temperature })
  t.match(found, { status: 'ok', at: '2026-05-20 10:00', percentile: 100, basis: 'hour', days: 29 })
  t.ok(Math.abs(found.value - found.median - 15) < 1e-9, 'the median of the 29 days before is 15 less')
  t.match(humidity, { status: 'no_data', value: null, at: null, days: 0 })
  const young = (startMs: number) => (startMs < nowMs - 8 * dayMs ? Number.NaN : 20)
  t.match((await normalOf({ co2: young })).co2, { reason: reasonTexts.fewSameHours, value: 20, percentile: null })
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
  t.ok(
    answer.humidity.hours.every(({ high95 }: { high95: number }) => high95 <= 100),
    'no more than there can be',
  )
  t.match(answer.co2, { status: 'insufficient_data', reason: reasonTexts.shortHistory, hours: [], back_test: null })
  const sparse = (startMs: number) => ((startMs / hourMs) % 2 === 0 ? noiseAt(startMs) : Number.NaN)
  t.match((await forecastOf({ temperature: sparse })).temperature, { reason: reasonTexts.sparseHours })
})
