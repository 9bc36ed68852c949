/** Slopes, their intervals and the Mann–Kendall test, against scipy and pymannkendall. Fixture: fixtures/trend.py. */

import { medianAbsoluteDeviation } from 'simple-statistics'
import { test } from 'tap'
import { studentQuantile975 } from '../../../analytics/correlation/student.ts'
import { detrend, detrendBesideDay } from '../../../analytics/decomposition/detrend.ts'
import { slopeInterval } from '../../../analytics/decomposition/slope-interval.ts'
import { driftTest, mannKendall, trendOf } from '../../../analytics/decomposition/trend.ts'
import { reasons } from '../../../analytics/reasons.ts'
import { deviation, floats, readFixture } from '../fixture.ts'
import { autoregressive, found } from '../series.ts'

const { tests, drifts, intervals, quantiles, deviations } = readFixture('trend')

test('Theil–Sen matches scipy, the test with its variance pymannkendall', async t => {
  for (const { name, days, values, slope, tau, z, p } of tests) {
    const got = found(mannKendall(floats(days), floats(values)))
    t.ok(deviation(got.slope, slope) < 1e-12, `${name}: slope ${got.slope}`)
    if (tau === undefined) continue
    t.ok(deviation(got.tau, tau) < 1e-12 && deviation(got.z, z) < 1e-9, `${name}: ${got.tau}, ${got.z}`)
    t.ok(deviation(got.pValue, p) < 1e-8, `${name}: p ${got.pValue}`)
  }
})

test('the drift matches statsmodels’ mean difference with Newey–West errors', async t => {
  for (const { name, values, t: expected, df, p } of drifts) {
    const got = found(driftTest(floats(values)))
    t.ok(deviation(got.t, expected) < 1e-9 && deviation(got.df, df) < 1e-12, `${name}: ${got.t}`)
    t.ok(deviation(got.pValue, p) < 1e-8, `${name}: p ${got.pValue}`)
  }
  const line = Float64Array.from({ length: 30 }, (_, day) => 2 * day)
  t.match(driftTest(line), { t: Number.POSITIVE_INFINITY, pValue: 0 }, 'an exact line')
  t.strictSame([driftTest(line.subarray(0, 9)), driftTest(new Float64Array(30))], [null, null])
})

test('the interval matches the explicit covariance matrix in numpy', async t => {
  for (const { name, values, nEffective, halfWidth } of intervals) {
    const got = found(slopeInterval(detrend(floats(values)).residual))
    t.ok(deviation(got.nEffective, nEffective) < 1e-9, `${name}: n_eff ${got.nEffective}`)
    t.ok(deviation(got.halfWidth, halfWidth) < 1e-4, `${name}: ${got.halfWidth}, ${halfWidth}`)
  }
})

test('Student’s quantile and the median deviation match scipy', async t => {
  for (const { df, t: expected } of quantiles) t.ok(deviation(studentQuantile975(df), expected) < 1e-10, `${df}`)
  t.ok(Number.isNaN(studentQuantile975(0)))
  for (const { values, mad } of deviations) t.equal(medianAbsoluteDeviation(values), mad)
})

test('a long memory has no interval, few or equal values no test', async t => {
  t.equal(slopeInterval(detrend(Float64Array.from({ length: 72 }, (_, i) => i * i)).residual), null, 'a bend')
  t.equal(slopeInterval(new Float64Array(100)), null)
  t.equal(slopeInterval(new Float64Array(0)), null)
  const nine = Float64Array.from({ length: 9 }, (_, i) => i)
  t.equal(mannKendall(nine, nine), null)
  const days = new Float64Array(30).map((_, i) => i)
  t.equal(mannKendall(days, new Float64Array(30)), null)
})

test('a trend is claimed if both tests agree over ten days or more', async t => {
  const noise = autoregressive(720, 0.7, 3)
  const of = (slopePerDay: number, hours = 720) => {
    const hourly = noise.subarray(0, hours).map((value, hour) => value + (slopePerDay * hour) / 24)
    const localHours = Uint8Array.from(hourly, (_, hour) => hour % 24)
    return trendOf({ hourly, localHours, slopePerDay: 24 * detrend(hourly).slopePerCell, hasDay: false })
  }
  t.equal([of(1), of(-1), of(0)].map(({ direction }) => direction).join(), 'rising,falling,none')
  t.match(of(1, 200), { direction: null, reason: reasons.fewDays })
  t.ok(Math.abs(found(of(1).theilSenPerDay) - 1) < 0.1)
})

test('the line beside a day matches a regression on time and 24 levels, also with missing hours', async t => {
  const hours = 5 * 24 + 7
  const wave = Float64Array.from({ length: hours }, (_, hour) => 3 * Math.sin(hour / 4) + (hour % 24 === 6 ? 9 : 0))
  const day = wave.map((_, hour) => (hour % 7 === 3 ? Number.NaN : (wave[hour % 24] as number) + 0.02 * hour))
  const localHours = Uint8Array.from(day, (_, hour) => (hour + 5) % 24)
  const { slopePerCell, residual } = detrendBesideDay(day, localHours)
  t.ok(Math.abs(slopePerCell - 0.02) < 1e-12, `${slopePerCell}`)
  t.ok(residual.every((rest, hour) => (hour % 7 === 3 ? Number.isNaN(rest) : Math.abs(rest) < 1e-9)))
  t.ok(Number.isNaN(detrendBesideDay(day.subarray(0, 24), localHours).slopePerCell), 'no hour comes twice')
})
