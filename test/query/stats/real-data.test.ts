/** Readings of real stations: the figures say what anybody knows of the weather. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import type { Series } from '../../../query/series.ts'
import { type Answer, ask, dayMs, seriesOf } from './stats-of.ts'

/** The rows of a demo file up to a moment. */
function readingsOf(file: string, untilMs = Number.POSITIVE_INFINITY): Series {
  const [head = '', ...lines] = readFileSync(join(import.meta.dirname, '../../../demo/data', file), 'utf8')
    .trimEnd()
    .split('\n')
  const names = head.split(',')
  const rows = lines.map(line => line.split(',')).filter(([time = '']) => Date.parse(time) < untilMs)
  const column = (name: string) => (_: number, place: number) => {
    const text = rows[place]?.[names.indexOf(name)] ?? ''
    return text === '' ? Number.NaN : Number(text)
  }
  return seriesOf(
    rows.map(([time = '']) => Date.parse(time)),
    {
      temperature: column('temperature'),
      humidity: column('humidity'),
      pressure: column('pressure'),
    },
  )
}

function pairOf(found: Answer, a: string, b: string): Answer {
  return found.correlations.pairs.find((pair: Answer) => pair.a === a && pair.b === b)
}

test('thirty summer days in Greensboro: warm and dry in the afternoon', async t => {
  const local = createLocalTime('America/New_York')
  const found = ask({
    series: readingsOf('greensboro-hours.csv', Date.UTC(2025, 7, 1)),
    local,
    device: { altitude_m: 270 },
  })
  t.match(found.freshness, { cadence: 'regular', expected_interval_seconds: 3600 })
  t.strictSame([found.grid_seconds, found.n_samples, found.window.truncated], [3600, 720, false])
  const { peaks, strength, label, peak_hour, trough_hour } = found.seasonality.temperature
  t.ok(peaks[0].significant && Math.abs(peaks[0].period_hours - 24) < 0.1, `${peaks[0].period_hours} h`)
  t.ok(strength.daily > 0.64 && label === 'strong', `${strength.daily}`)
  t.ok(peak_hour >= 13 && peak_hour <= 17 && trough_hour >= 4 && trough_hour <= 7, `${trough_hour} to ${peak_hour}`)
  const pair = pairOf(found, 'temperature', 'humidity')
  t.ok(pair.pearson < -0.7 && pair.significant && pair.r_deseasonalised < 0, `${pair.pearson}`)
  t.ok(pair.n_eff < 0.5 * pair.n, 'neighbouring hours tell the same')
  const { temperature, dew_point } = found.aggregates
  t.ok(dew_point.mean < temperature.mean && temperature.mean > 20 && temperature.mean < 30)
  const { sea_level_pressure, absolute_humidity, tendency } = found.derived
  t.ok(sea_level_pressure > 1000 && sea_level_pressure < 1035 && absolute_humidity > 5 && tendency !== null)
})

test('a day of minutes in Alamosa: too short for a season, long enough for the rest', async t => {
  const series = readingsOf('alamosa-minutes.csv')
  const local = createLocalTime('America/Denver')
  const found = ask({ series, local, device: { altitude_m: 2317 }, nowMs: Date.UTC(2016, 0, 2) })
  t.strictSame([found.grid_seconds, found.n_samples], [60, 1440])
  t.equal(found.seasonality.temperature.status, 'insufficient_data')
  t.equal(found.autocorrelation.temperature.status, 'ok')
  t.equal(found.autocorrelation.temperature.max_lag_hours, 8)
  t.ok(found.autocorrelation.temperature.decorrelation_hours > 1)
  const pair = pairOf(found, 'temperature', 'humidity')
  t.ok(pair.pearson < -0.7, `${pair.pearson}`)
  t.ok(found.derived.sea_level_pressure > 1000 && found.derived.sea_level_pressure < 1060)
  t.match(found.reliability.windows['24h'], { received: 1440, uptime: 1, completeness: 1 })
  t.ok(found.window.start < found.window.end && series.timesMs.length * 60_000 === dayMs)
})

test('of good stations at most one reading in a hundred is suspect', async t => {
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
  const low = ask({
    series: readingsOf('alamosa-minutes.csv'),
    local: createLocalTime('UTC'),
    device: { altitude_m: 0 },
  })
  t.equal(low.quality.pressure.tests.range, 1440, 'at the sea 777 hPa would be suspect')
})
