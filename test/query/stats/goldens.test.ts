/** The made series of which every figure is known, through the whole answer. */

import { test } from 'tap'
import { metrics } from '../../../store/tables.ts'
import { goldenDaily, goldenFollower, goldenGaps } from '../../analytics/series.ts'
import { ask, dayMs, every, hourMs, minuteMs, near, seriesOf } from './stats-of.ts'

const startMs = Date.UTC(2025, 0, 1)
const times = every(5 * minuteMs, startMs, 8640)
const column = (values: Float64Array) => (_: number, place: number) => values[place] as number

test('G1: a daily cycle', async t => {
  const found = ask({ series: seriesOf(times, { temperature: column(goldenDaily()) }) })
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

test('G2: the same with losses and a gap', async t => {
  const values = goldenGaps()
  const kept = times.filter((_, place) => !Number.isNaN(values[place] as number))
  const present = values.filter(value => !Number.isNaN(value))
  // Losses as missing readings, and as readings without a value beside another metric.
  for (const series of [
    seriesOf(times, { temperature: column(values), humidity: () => 50 }),
    seriesOf(kept, { temperature: column(present) }),
  ]) {
    const found = ask({ series, stepSeconds: 300 }).autocorrelation.temperature
    const first = series.timesMs.length === 8640 ? 8640 : 8639
    t.strictSame([found.n, found.n_observed], [first, 6816])
    if (first !== 8640) continue
    const pairs = (hours: number) => found.n_pairs[found.lags_hours.indexOf(hours)]
    t.strictSame([pairs(0), found.n_pairs[1], pairs(12), pairs(24)], [6816, 5112, 4953, 4867])
    t.ok(near(found.acf[found.lags_hours.indexOf(24)], 0.9664765302, 1e-10))
  }
})

test('G3: humidity an hour behind temperature, which they share with the day alone', async t => {
  const series = seriesOf(times, { temperature: column(goldenDaily()), humidity: column(goldenFollower()) })
  const [pair] = ask({ series }).correlations.pairs
  t.match(pair, { a: 'temperature', b: 'humidity', n: 720, lag_seconds: null, lag_r: null })
  t.match(pair, { significant: true, r_deseasonalised: null, reason: 'lag_not_significant' })
  t.ok(near(pair.pearson, -0.9659258263, 1e-10) && near(pair.spearman, -0.9608695652, 1e-10))
  t.ok(near(pair.n_eff, 20.9543, 1e-4))
  t.ok(near(pair.ci95[0], -0.98635, 1e-5) && near(pair.ci95[1], -0.91623, 1e-5))
})

test('G4: a day of minutes without one of its hours', async t => {
  const minutes = every(minuteMs, startMs, 1440).filter((_, place) => place < 600 || place >= 660)
  const series = seriesOf(minutes, { temperature: () => 20 })
  const { windows, gaps, gap_threshold_seconds, days } = ask({ series, nowMs: startMs + dayMs }).reliability
  const { uptime, completeness, ...rest } = windows['24h']
  t.ok(near(uptime, 0.9583333333, 1e-10) && near(completeness, 0.9583333333, 1e-10))
  const seconds = { downtime_seconds: 3600, longest_gap_seconds: 3660, mtbf_seconds: 82_800, mttr_seconds: 3600 }
  t.match(rest, { received: 1380, expected: 1440, gap_count: 1, ...seconds, mtbf_lower_bound_seconds: null })
  const gap = { start: '2025-01-01 09:59', end: '2025-01-01 11:00', duration_seconds: 3660, missed: 60, ongoing: false }
  t.strictSame(gaps, [gap])
  t.equal(gap_threshold_seconds, 150)
  t.match(days.at(-2), { date: '2025-01-01', state: 'ok' })
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

test('a gap is neither counted nor bridged by the mean over time', async t => {
  const values = [10, 10, 10, 30]
  const series = seriesOf(
    [0, 60, 120, 600].map(seconds => startMs + seconds * 1000),
    { temperature: (_, place) => values[place] as number },
  )
  const { mean, tw_mean } = ask({ series, device: { expected_interval_seconds: 60 } }).aggregates.temperature
  t.strictSame([mean, tw_mean], [15, 10])
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
