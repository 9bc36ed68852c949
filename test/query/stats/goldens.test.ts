/** A made series of which every figure is known, through the whole answer. */

import { test } from 'tap'
import { metrics } from '../../../store/tables.ts'
import { goldenDaily } from '../../analytics/series.ts'
import { ask, every, hourMs, minuteMs, near, seriesOf } from './stats-of.ts'

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

test('G6: what can be derived from one reading', async t => {
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

test('what is derived comes from readings near the last one', async t => {
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

test('a figure that is no number does not pass', async t => {
  const series = seriesOf(
    [startMs],
    Object.fromEntries(metrics.map(metric => [metric, () => Number.POSITIVE_INFINITY])),
  )
  t.throws(() => ask({ series }), /is Infinity|is NaN/)
})
