/** A made series with known figures, through the whole answer. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { agreementOf } from '../../../analytics/correlation/agreement.ts'
import type { Profile } from '../../../analytics/domain/profile.ts'
import { pairReasons, reasons } from '../../../analytics/reasons.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { answerChanges } from '../../../query/analyses/changes.ts'
import { answerDomain } from '../../../query/analyses/domain.ts'
import { answerForecast } from '../../../query/analyses/forecast.ts'
import { answerNormal } from '../../../query/analyses/normal.ts'
import type { Series } from '../../../query/series.ts'
import { metrics } from '../../../store/tables.ts'
import { demoColumn } from '../../analytics/fixture.ts'
import { autoregressive, goldenDaily } from '../../analytics/series.ts'
import { contextOf, hoursQuery, type MadeHours } from '../hours/hours-of.ts'
import { type Answer, ask, dayMs, every, hourMs, minuteMs, near, seriesOf } from './stats-of.ts'

const startMs = Date.UTC(2025, 0, 1)

test('G1: a daily cycle', async t => {
  const values = goldenDaily()
  const times = every(5 * minuteMs, startMs, values.length)
  const found = ask({ series: seriesOf(times, { temperature: (_, place) => values[place] as number }) })
  const { aggregates, autocorrelation, seasonality } = found
  t.strictSame([found.grid_seconds, found.n_samples], [300, 8640])
  const { mean, std, p05, p95 } = aggregates.temperature
  t.ok(near(mean, 20, 1e-11) && near(std, 3.5357385263516914, 1e-12), `${mean}, ${std}`)
  t.ok(near(p05, 15.05819245, 1e-8) && near(p95, 24.94180755, 1e-8))
  const { lags_hours, acf, band95, n_pairs, peak } = autocorrelation.temperature
  const at = (hours: number) => lags_hours.indexOf(hours)
  t.ok(near(acf[at(12)], -0.98333333, 1e-8) && near(acf[at(24)], 0.96666667, 1e-8))
  t.ok(near(acf[at(168)], 0.76666667, 1e-8) && near(band95[at(24)], 0.3513136872, 1e-9))
  t.strictSame([n_pairs[at(24)], peak.lag_hours], [8640 - 288, 24])
  t.ok(near(autocorrelation.temperature.band95_white[at(24)], 1.959963984540054 / Math.sqrt(8640), 1e-12))
  const { slope_per_day, peaks, strength, label, peak_hour, trough_hour, daily_profile } = seasonality.temperature
  t.ok(near(slope_per_day, -0.0106099088, 1e-10))
  t.equal(peaks.length, 1)
  t.ok(near(peaks[0].power, 0.9993245794, 1e-10) && near(peaks[0].period_hours, 23.999992, 1e-6))
  t.match(peaks[0], { significant: true, harmonic_of: null, fap: 0, phase_time: '06:02' })
  t.strictSame([strength, label], [{ daily: 1, weekly: null, trend: 0, reason: null }, 'strong'])
  t.strictSame([peak_hour, trough_hour, daily_profile[6].n], [6, 18, 360])
})

test('G6: derived values of one reading', async t => {
  const series = seriesOf([startMs - 3 * hourMs, startMs], {
    temperature: () => 20,
    humidity: () => 50,
    pressure: timeMs => (timeMs === startMs ? 1000 : 1002),
  })
  const { derived, aggregates } = ask({ series, device: { altitude_m: 200 } })
  t.ok(near(aggregates.dew_point.mean, 9.255174599, 1e-9))
  t.ok(near(derived.absolute_humidity, 8.621414941, 1e-9) && near(derived.sea_level_pressure, 1023.400787, 1e-6))
  t.strictSame([derived.pressure_tendency, derived.tendency], [-2, 'falling moderately'])
  const unknown = ask({ series }).derived
  t.equal(unknown.sea_level_pressure, null, 'without an altitude')
})

test('derived values come from readings near the last one', async t => {
  const of = (behindMs: number, expected_interval_seconds: number | null = null) => {
    const series = seriesOf([startMs - behindMs, startMs], {
      temperature: () => 20,
      humidity: timeMs => (timeMs === startMs ? Number.NaN : 50),
    })
    return ask({ series, device: { expected_interval_seconds } }).derived.absolute_humidity
  }
  t.ok(near(of(hourMs), 8.621414941, 1e-9))
  t.equal(of(hourMs + 1), null)
  t.ok(near(of(5 * hourMs, 3600), 8.621414941, 1e-9), 'five intervals are near')
  t.equal(of(5 * hourMs + 1, 3600), null)
})

test('a figure that is not a number fails', async t => {
  const series = seriesOf(
    [startMs],
    Object.fromEntries(metrics.map(metric => [metric, () => Number.POSITIVE_INFINITY])),
  )
  t.throws(() => ask({ series }), /is Infinity|is NaN/)
})

function readingsOf(file: string): Series {
  const names = ['temperature', 'humidity', 'pressure'] as const
  const columns = names.map(name => [name, demoColumn(file, name)] as const)
  const at = (values: Float64Array) => (_: number, place: number) => values[place] as number
  return seriesOf(
    demoColumn(file, 'timestamp'),
    Object.fromEntries(columns.map(([name, values]) => [name, at(values)])),
  )
}

test('good stations have at most one suspect reading in a hundred', async t => {
  const stations = [
    { file: 'alamosa-minutes.csv', zone: 'America/Denver', altitude_m: 2317, days: 1 },
    { file: 'greensboro-hours.csv', zone: 'America/New_York', altitude_m: 273, days: 365 },
    { file: 'sand-point-hours.csv', zone: 'America/Anchorage', altitude_m: 6, days: 365 },
  ]
  for (const { file, zone, days, altitude_m } of stations) {
    for (const altitude of [altitude_m, null]) {
      const device = { altitude_m: altitude }
      const { quality } = ask({ series: readingsOf(file), local: createLocalTime(zone), days, device })
      for (const metric of ['temperature', 'humidity', 'pressure']) {
        const { good, suspect } = quality[metric]
        t.ok(suspect <= 0.01 * (good + suspect), `${file}, ${metric}: ${JSON.stringify(quality[metric])}`)
      }
    }
  }
  const low = ask({ series: readingsOf('alamosa-minutes.csv'), device: { altitude_m: 0 } })
  t.equal(low.quality.pressure.tests.range, 0, 'a usual range that no value is in is another place’s')
})

const local = createLocalTime('Europe/Berlin')

/** Ten local days of five-minute readings. The seventh has the clock change. */
function around(startUtc: string, changeHours: number): { found: Answer; readings: number } {
  const startMs = Date.parse(startUtc)
  const readings = 12 * (9 * 24 + changeHours)
  const series = seriesOf(every(5 * minuteMs, startMs, readings), {
    temperature: timeMs => 10 + 5 * Math.cos((2 * Math.PI * (timeMs - startMs)) / dayMs),
  })
  const nowMs = startMs + readings * 5 * minuteMs
  return { found: ask({ series, nowMs, local, predecessorMs: startMs - 5 * minuteMs }), readings }
}

for (const { way, start, hours, end, date } of [
  { way: 'forward', start: '2025-03-23T23:00Z', hours: 23, end: '2025-04-02 23:55', date: '2025-03-30' },
  { way: 'back', start: '2025-10-19T22:00Z', hours: 25, end: '2025-10-29 23:55', date: '2025-10-26' },
]) {
  test(`the clocks go ${way}: a day has ${hours} hours, and readings at two o’clock accordingly`, async t => {
    const { found, readings } = around(start, hours)
    t.match(found.window, { end })
    const day = found.reliability.days.find((one: Answer) => one.date === date)
    t.strictSame(day, { date, completeness: 1, state: 'ok' })
    const counts = found.seasonality.temperature.daily_profile.map((hour: Answer) => hour.n)
    const plain = new Array<number>(24).fill(120)
    t.strictSame(counts, plain.with(2, 120 + 12 * (hours - 24)))
    t.match(found.reliability.windows['7d'], { completeness: 1, uptime: 1, gap_count: 0 })
    t.strictSame([found.n_samples, found.autocorrelation.temperature.n], [readings, readings])
    const [peak] = found.seasonality.temperature.peaks
    t.ok(near(peak.period_hours, 24, 0.01), 'the cycle goes by UTC')
  })
}

const reasonsStartMs = Date.UTC(2026, 0, 1)
const one = autoregressive(720, 0.9, 1)
const other = autoregressive(720, 0.9, 2)
const walk = autoregressive(720, 1, 3)
const otherWalk = autoregressive(720, 1, 4)

type Values = (timeMs: number, place: number) => number

function answerTo(hours: number, temperature: Values, humidity: Values = temperature): unknown {
  return ask({ series: seriesOf(every(hourMs, reasonsStartMs, hours), { temperature, humidity }) })
}

const column = (values: Float64Array) => (_: number, place: number) => values[place] as number

const nowMs = reasonsStartMs + 30 * 24 * hourMs
const newHours = contextOf({ temperature: made => (made < nowMs - 100 * hourMs ? Number.NaN : (one[0] as number)) })

async function domainOf(profile: Profile, made: MadeHours, days = 5): Promise<unknown> {
  const device = { ...hoursQuery.device, profile, expected_interval_seconds: 60 }
  return JSON.parse(await answerDomain({ ...hoursQuery, device, custom: [], days, nowMs }, contextOf(made)))
}

const steadyReadings = (stepMs: number) =>
  seriesOf(every(stepMs, nowMs - 4 * 24 * hourMs, (4 * 24 * hourMs) / stepMs), {
    temperature: timeMs => Math.sin(timeMs),
  })

const answers = [
  await domainOf('weather', {}),
  await domainOf('cold_chain', { temperature: () => 5 }, 40),
  await domainOf('cold_chain', { readings: steadyReadings(900_000) }),
  await domainOf('cold_chain', { readings: steadyReadings(300_000) }),
  JSON.parse(await answerChanges({ ...hoursQuery, days: 100, nowMs }, newHours)),
  JSON.parse(await answerNormal({ ...hoursQuery, nowMs }, newHours)),
  JSON.parse(await answerForecast({ ...hoursQuery, nowMs }, newHours)),
  answerTo(0, () => 1),
  answerTo(5, column(one)),
  answerTo(720, () => 1),
  answerTo(720, column(one), column(other)),
  answerTo(720, (_, place) => (place < 100 || place > 600 ? (one[place] as number) : Number.NaN)),
  answerTo(720, (_, place) => (place % 9 < 5 ? (one[place] as number) : Number.NaN)),
  answerTo(480, (_, place) => place * place),
  answerTo(720, (_, place) => (place % 50 === 0 ? 21 : 20)),
  answerTo(24, column(walk), column(otherWalk)),
  ask({ series: seriesOf(every(6 * hourMs, reasonsStartMs, 120), { temperature: column(one) }) }),
  answerTo(720, column(walk)),
  agreementOf(
    new Float64Array(0),
    new Float64Array(0),
    { startMs: reasonsStartMs, stepMs: hourMs },
    createLocalTime('UTC'),
  ),
]

function* reasonsIn(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) {
    if (key === 'reason' && part !== null) yield part
    yield* reasonsIn(part)
  }
}

test('answers give exactly the reasons of the table', async t => {
  const given = new Set(answers.flatMap(answer => [...reasonsIn(answer)]))
  t.strictSame([...given].sort(), [...Object.values(reasons), ...pairReasons].sort())
})

test('the documentation explains each reason', async t => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/statistics.md'), 'utf8')
  for (const reason of [...Object.values(reasons), ...pairReasons]) t.ok(text.includes(`\`${reason}\``), reason)
})
