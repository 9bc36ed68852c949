/** Whole answers for little or no data: the table of edge cases. */

import { test } from 'tap'
import { statsAfterMs } from '../../../query/stats/stats-answer.ts'
import { metrics } from '../../../store/tables.ts'
import { uniform } from '../../analytics/series.ts'
import { type Answer, ask, dayMs, every, hourMs, minuteMs, near, seriesOf } from './stats-of.ts'

const startMs = Date.UTC(2026, 0, 1)
const daily = (timeMs: number) => 20 + 5 * Math.sin((2 * Math.PI * timeMs) / dayMs)

function forEachMetric<Value>(value: Value): Record<string, Value> {
  return Object.fromEntries(metrics.map(metric => [metric, value]))
}

const nulls = (names: string) => Object.fromEntries(names.split(' ').map(name => [name, null]))

const noWindow = {
  ...nulls('uptime downtime_seconds mtbf_seconds mttr_seconds mtbf_lower_bound_seconds completeness hours_with_data'),
  ...{ gap_count: 0, longest_gap_seconds: 0, received: 0, expected: null, truncated: false },
  metrics: forEachMetric({ completeness: null }),
}

const noValue = { status: 'no_data', reason: 'no_value', lack: null }
const noAutocorrelation = {
  ...noValue,
  ...{ n: 0, n_observed: 0 },
  ...nulls('max_lag_hours lags_hours acf band95 band95_white n_pairs decorrelation_hours peak'),
}
const noSeasonality = {
  ...noValue,
  ...nulls('day slope_per_day slope_ci95 trend label periodogram weekly_profile peak_hour trough_hour'),
  peaks: [],
  strength: nulls('daily weekly trend reason'),
  daily_profile: Array.from({ length: 24 }, (_, hour) => ({ hour, n: 0, ...nulls('mean median p10 p90') })),
}
const noAggregate = { count: 0, ...nulls('mean tw_mean min max std median p05 p95') }
const noTests = { range: 0, spike: 0, rate: 0, flat: 0, error_code: 0 }
const noQuality = { good: 0, suspect: 0, missing: 0, tests: noTests, quantum: null, flat_hours: null }

test('a device without a reading has every key and no values', async t => {
  const { reliability, units, ...rest } = ask({ series: seriesOf([], {}), nowMs: startMs })
  t.strictSame(rest, {
    device: 'roof',
    time_zone: 'UTC',
    generated_at: '2026-01-01 00:00',
    window: { start: null, end: null, days: 30, truncated: false },
    grid_seconds: null,
    n_samples: 0,
    findings: [],
    freshness: {
      ...nulls('last_seen age_seconds expected_interval_seconds regularity next_expected'),
      ...{ state: 'never', interval_source: 'default', cadence: 'unknown', clock_skew: false },
      as_of: '2026-01-01 00:00',
      metrics: forEachMetric(nulls('last_seen age_seconds value')),
    },
    correlations: { grid_seconds: null, n: 0, pairs: [] },
    autocorrelation: forEachMetric(noAutocorrelation),
    seasonality: forEachMetric(noSeasonality),
    aggregates: { ...forEachMetric(noAggregate), dew_point: noAggregate },
    derived: nulls('absolute_humidity sea_level_pressure pressure_tendency tendency'),
    quality: forEachMetric(noQuality),
  })
  const { days, ...figures } = reliability
  t.strictSame(figures, {
    as_of: '2026-01-01 00:00',
    windows: { '24h': noWindow, '7d': noWindow, '30d': noWindow },
    ...nulls('gap_threshold_seconds jitter_seconds jitter_p95_seconds'),
    ...{ gaps: [], gaps_total: 0 },
  })
  t.equal(days.length, 30)
  t.strictSame(days[29], { date: '2026-01-01', completeness: null, state: null })
  t.match(units, { temperature: '°C', pressure: 'hPa', dew_point: '°C', absolute_humidity: 'g/m³' })
})

test('one reading: an age and its own values, no interval and no rate', async t => {
  const series = seriesOf([startMs], { temperature: () => 20, humidity: () => 50 })
  const found = ask({ series, nowMs: startMs + 90_500 })
  t.strictSame(found.window, { start: '2025-12-02 00:00', end: '2026-01-01 00:00', days: 30, truncated: true })
  t.match(found.freshness, { state: 'fresh', age_seconds: 90, expected_interval_seconds: null, next_expected: null })
  t.strictSame(found.freshness.metrics.humidity, { last_seen: '2026-01-01 00:00', age_seconds: 90, value: 50 })
  t.strictSame(found.reliability.windows['7d'], { ...noWindow, received: 1, truncated: true })
  t.equal(found.reliability.days[29].state, 'partial')
  const [pair, ...pairs] = found.correlations.pairs
  t.equal(pairs.length, 14)
  const figures = 'n_eff pearson p_value ci95 spearman spearman_p_value r_deseasonalised lag_seconds lag_r'
  const about = { a: 'temperature', b: 'humidity', n: 1, significant: false, reason: 'insufficient_data' }
  t.strictSame(pair, { ...about, ...nulls(figures) })
  const lack = { needed: 30, found: 1 }
  const few = { status: 'insufficient_data', n: 1, n_observed: 1, reason: 'few_cells', lack }
  t.strictSame(found.autocorrelation.temperature, { ...noAutocorrelation, ...few })
  t.match(found.seasonality.temperature, { status: 'insufficient_data', reason: 'short_span', peaks: [] })
  t.match(found.aggregates, { temperature: { count: 1, mean: 20, std: null, p95: 20 }, dew_point: { count: 1 } })
  t.strictSame(found.quality.temperature, { ...noQuality, good: 1, flat_hours: 3 })
  t.strictSame(found.quality.pressure, { ...noQuality, missing: 1 })
})

test('thirty cells have an autocorrelation, three days have a season', async t => {
  const of = (hours: number) => ask({ series: seriesOf(every(hourMs, startMs, hours), { temperature: daily }) })
  const statuses = (found: Answer) => [found.autocorrelation.temperature.status, found.seasonality.temperature.status]
  t.strictSame(statuses(of(29)), ['insufficient_data', 'insufficient_data'])
  t.strictSame(statuses(of(30)), ['ok', 'insufficient_data'])
  t.strictSame(statuses(of(71)), ['ok', 'insufficient_data'])
  const found = of(72)
  t.strictSame(statuses(found), ['ok', 'ok'])
  t.equal(found.seasonality.temperature.weekly_profile, null)
  t.equal(found.autocorrelation.temperature.max_lag_hours, 24)
})

test('a clock that is a second off leaves no cell empty, unlike an outage', async t => {
  const times = every(61_000, startMs, 6 * 1416)
  const found = ask({ series: seriesOf(times, { temperature: daily }) })
  t.equal(found.grid_seconds, 60)
  t.equal(found.autocorrelation.temperature.n_observed, found.autocorrelation.temperature.n)
  const { n, n_observed } = ask({
    series: seriesOf([...times.slice(0, 3000), ...times.slice(3100)], { temperature: daily }),
  }).autocorrelation.temperature
  t.ok(near(n - n_observed, 100, 4), `${n - n_observed}`)
})

test('a device slower than an hour has its own step and no hours between its readings', async t => {
  for (const stepHours of [2, 3, 6, 12]) {
    const times = every(stepHours * hourMs, startMs, (30 * 24) / stepHours)
    const found = ask({ series: seriesOf(times, { temperature: timeMs => daily(timeMs) + timeMs / dayMs / 10 }) })
    t.equal(found.grid_seconds, stepHours * 3600)
    t.match(found.autocorrelation.temperature, { status: 'ok' })
    t.equal(found.seasonality.temperature.strength.reason, stepHours > 3 ? 'slow_readings' : null, `${stepHours} h`)
    t.equal(found.seasonality.temperature.trend.direction, 'rising', `${stepHours} h`)
  }
})

test('a constant metric is called constant, also when its mean is not exact', async t => {
  const found = ask({ series: seriesOf(every(hourMs, startMs, 200), { temperature: daily, pressure: () => 0.1 }) })
  const constant = { status: 'constant', reason: 'no_variation', lack: null }
  const counts = { n: 200, n_observed: 200 }
  t.strictSame(found.autocorrelation.pressure, { ...noAutocorrelation, ...constant, ...counts })
  const { daily_profile } = found.seasonality.pressure
  t.strictSame(found.seasonality.pressure, { ...noSeasonality, ...constant, daily_profile })
  t.match(daily_profile[5], { hour: 5, mean: 0.1, p10: 0.1 })
  t.match(found.correlations.pairs[1], { b: 'pressure', n: 200, pearson: null, lag_r: null, reason: 'constant' })
})

test('a metric that is always null has no data beside others that do', async t => {
  const found = ask({ series: seriesOf(every(hourMs, startMs, 600), { temperature: daily }) })
  t.match(found.autocorrelation.humidity, { status: 'no_data', n: 600, n_observed: 0, acf: null })
  t.strictSame(found.seasonality.humidity, noSeasonality)
  t.strictSame(found.quality.humidity, { ...noQuality, missing: 600 })
  t.match(found.reliability.windows['7d'].metrics, { humidity: { completeness: 0 }, temperature: { completeness: 1 } })
  t.equal(found.seasonality.temperature.weekly_profile.length, 7)
})

test('a switched-off device is paused, unlike an offline one', async t => {
  const series = seriesOf(every(hourMs, startMs, 24 * 20), { temperature: daily })
  const nowMs = startMs + 100 * dayMs
  const found = ask({ series, nowMs, predecessorMs: startMs - hourMs })
  t.match(found.window, { end: '2026-01-20 23:00', truncated: false })
  t.match(found.freshness, { state: 'offline' })
  t.match(found.reliability.windows['30d'], { uptime: 0, completeness: 0, received: 0, gap_count: 1 })
  t.equal(found.seasonality.temperature.status, 'ok')
  t.equal(ask({ series, nowMs, device: { log_switch: false } }).freshness.state, 'paused')
})

test('a device ahead of our clock has no negative age and counts its future readings later', async t => {
  const nowMs = startMs + 2 * dayMs
  const series = seriesOf(every(minuteMs, startMs, 2 * 1440 + 4), { temperature: daily })
  const found = ask({ series, nowMs })
  t.match(found.freshness, { state: 'fresh', age_seconds: 0, clock_skew: true, last_seen: '2026-01-03 00:03' })
  t.equal(found.window.end, '2026-01-03 00:03')
  t.equal(found.n_samples, 2884)
  t.match(found.reliability.windows['24h'], { received: 1440, uptime: 1, completeness: 1 })
  const later = ask({ series, nowMs, givenMs: nowMs + 4 * minuteMs })
  t.match(later.freshness, { age_seconds: 60, clock_skew: false })
  t.match(later.reliability.windows['30d'], { received: 2884, completeness: 1 })
})

test('a configured interval is used, else an irregular device is measured by hours', async t => {
  const configured = ask({
    series: seriesOf(every(minuteMs, startMs, 3000), { temperature: daily }),
    device: { expected_interval_seconds: 300 },
  })
  t.match(configured.freshness, { interval_source: 'configured', expected_interval_seconds: 300, cadence: 'regular' })
  t.equal(configured.grid_seconds, 300)
  // Poisson: the next reading never depends on the last.
  const next = uniform(7)
  let timeMs = startMs
  const times = Array.from({ length: 5000 }, () => (timeMs -= Math.log(1 - next()) * 5 * minuteMs))
  const found = ask({ series: seriesOf(times, { temperature: daily }) })
  t.match(found.freshness, { cadence: 'irregular', interval_source: 'estimated' })
  const { windows } = found.reliability
  t.match(windows['7d'], { completeness: null, hours_with_data: 1, metrics: { temperature: { completeness: null } } })
  t.ok(windows['7d'].uptime > 0.99)
  t.equal(windows['30d'].hours_with_data, 1, 'also of a window that begins with its first reading')
  const [peak] = found.seasonality.temperature.peaks
  t.ok(near(peak.period_hours, 24, 0.01) && near(peak.amplitude, 5, 0.02) && near(peak.power, 1, 0.01))
})

test('days and step come from the caller except for the thirty days of reliability', async t => {
  const series = seriesOf(every(minuteMs, startMs, 20 * 1440), { temperature: daily })
  const found = ask({ series, days: 7, stepSeconds: 900 })
  t.match(found.window, { start: '2026-01-13 23:59', end: '2026-01-20 23:59', days: 7, truncated: false })
  t.equal(found.n_samples, 7 * 1440, 'the reading at its start is not in a window')
  t.equal(found.grid_seconds, 900)
  t.equal(found.autocorrelation.temperature.lags_hours[1], 0.25)
  t.ok(found.reliability.windows['30d'].received > 19 * 1440)
})

test('without an interval nothing is near enough to be a spike', async t => {
  const series = seriesOf(every(minuteMs, startMs, 3), { temperature: (_, place) => (place === 1 ? 30 : 20) })
  t.equal(ask({ series }).quality.temperature.tests.spike, 0)
  t.equal(ask({ series, device: { expected_interval_seconds: 60 } }).quality.temperature.tests.spike, 1)
})

test('the readings that are needed go back thirty days, or as far as is asked', async t => {
  const nowMs = startMs + dayMs
  const daysBefore = (lastMs: number, days: number) => (nowMs - statsAfterMs(lastMs, nowMs, days)) / dayMs
  t.equal(daysBefore(nowMs, 1), 30 + 1 / 24, 'the first local day may begin an hour earlier')
  t.equal(daysBefore(nowMs, 90), 90 + 1 / 24)
  t.equal(daysBefore(nowMs - 60 * dayMs, 30), 90, 'the window ends at the last reading')
  t.equal(daysBefore(nowMs + minuteMs, 30), 30 + 1 / 24)
})
