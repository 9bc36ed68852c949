/** Autocorrelation against statsmodels, the golden G1, and its invariants. Fixture: fixtures/series-correlation.py. */

import { test } from 'tap'
import { autocorrelation, lagOneAutocorrelation } from '../../../analytics/correlation/autocorrelation.ts'
import {
  autocorrelationBands,
  autocorrelationLagMax,
  autocorrelationPeak,
  decorrelationLag,
  peakOfCycle,
  repeatOfCycles,
  shownLags,
} from '../../../analytics/correlation/autocorrelation-bands.ts'
import { normalUpperPoint } from '../../../analytics/correlation/student.ts'
import { type Fixture, floats, readFixture } from '../fixture.ts'
import { at, found, goldenDaily } from '../series.ts'

const cases: Fixture = readFixture('series-correlation').autocorrelation

function largestDifference(got: Float64Array, expected: readonly (number | null)[]): number {
  let largest = 0
  for (const [place, value] of expected.entries()) {
    const distance = Math.abs((got[place] as number) - (value ?? Number.NaN))
    if (Number.isNaN(got[place]) && value === null) continue
    largest = Math.max(largest, Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance)
  }
  return got.length === expected.length ? largest : Number.POSITIVE_INFINITY
}

test('r and its pair counts match statsmodels, with gaps the formula', async t => {
  for (const [name, { values, lags, r, pairs }] of Object.entries<Fixture>(cases)) {
    const result = found(autocorrelation(floats(values), lags))
    const largest = largestDifference(result.r, r)
    t.ok(largest < 1e-9, `${name}: off by ${largest}`)
    t.strictSame([...result.pairs], pairs, name)
    t.equal(result.observed, pairs[0], name)
  }
})

test('the Bartlett band of a complete series matches statsmodels', async t => {
  for (const [name, { values, lags, bartlett }] of Object.entries<Fixture>(cases)) {
    if (bartlett === null) continue
    const bands = autocorrelationBands(found(autocorrelation(floats(values), lags)))
    // The library has no band at lag 0.
    const largest = largestDifference(bands.bartlett.subarray(1), bartlett.slice(1))
    t.ok(largest < 1e-9, `${name}: off by ${largest}`)
  }
})

test('bands with gaps follow the formula and end with r', async t => {
  const { values, lags } = cases['few left']
  const result = found(autocorrelation(floats(values), lags))
  const { bartlett, white } = autocorrelationBands(result)
  let squares = 0
  let nulls = 0
  for (let lag = 0; lag <= lags; lag++) {
    const n = result.pairs[lag] as number
    const half = 1.959963984540054 * Math.sqrt((result.cells - lag) / (result.cells * n))
    if (n < 20) {
      nulls++
      for (const numbers of [result.r, bartlett, white]) t.ok(Number.isNaN(numbers[lag]), `lag ${lag} has ${n} pairs`)
      continue
    }
    const expected = half * Math.sqrt(1 + 2 * squares)
    if (Math.abs((bartlett[lag] as number) - expected) > 1e-12) t.equal(bartlett[lag], expected, `lag ${lag}`)
    if (Math.abs((white[lag] as number) - half) > 1e-12) t.equal(white[lag], half, `lag ${lag}`)
    if (lag > 0) squares += at(result, lag) ** 2
  }
  t.ok(nulls > 10 && nulls < lags)
})

test('an empty series, one value and equal values have no autocorrelation', async t => {
  for (const values of [[], [Number.NaN, Number.NaN], [1], Array(50).fill(0.1), [0.1, Number.NaN, 0.1]]) {
    t.equal(autocorrelation(Float64Array.from(values), 0), undefined, `${values.length} cells`)
    t.ok(Number.isNaN(lagOneAutocorrelation(Float64Array.from(values))))
  }
})

test('the memory ends between the lags where r falls to 1/e', async t => {
  t.equal(decorrelationLag(Float64Array.from([1, 0.5, 0.2])), 1 + (0.5 - 1 / Math.E) / 0.3)
  const gap = Float64Array.from([1, Number.NaN, 0])
  t.equal(decorrelationLag(gap), 2 * (1 - 1 / Math.E), 'a lag without r is passed over')
  t.equal(decorrelationLag(Float64Array.from([1, 0.9, 0.8])), null)
  t.equal(decorrelationLag(Float64Array.from([])), null)
  const daily = found(decorrelationLag(found(autocorrelation(goldenDaily(), 288)).r))
  t.ok(Math.abs((daily * 5) / 60 - (Math.acos(1 / Math.E) * 24) / (2 * Math.PI)) < 0.1, 'the arc cosine of 1/e')
})

test('the peak is the highest maximum above the band after the first zero', async t => {
  const band = new Float64Array(9).fill(0.2)
  const peak = (...r: number[]) => autocorrelationPeak(Float64Array.from(r), band)
  const hills = peak(1, 0.3, 0.6, 0.1, -0.2, 0.3, 0.1, 0.5, 0.1)
  t.strictSame(hills, { lag: 7, r: 0.5 }, 'the earlier hill is before the zero')
  t.equal(peak(1, 0.5, -0.1, 0.1, -0.1), null, 'within the band')
  t.equal(peak(1, 0.5, 0.8, 0.6), null, 'no zero')
  t.equal(peak(1, -0.5, 0.8), null, 'the end is no maximum')
  t.equal(peak(1, -0.5, Number.NaN, 0.8, 0.1), null, 'beside a lag without r')
  const daily = found(autocorrelation(goldenDaily(), 2016))
  t.equal(autocorrelationPeak(daily.r, autocorrelationBands(daily).bartlett)?.lag, 288)
})

test('with hundreds of lags the highest needs a larger prominence', async t => {
  t.ok(Math.abs(normalUpperPoint(0.025) - 1.959963984540054) < 1e-12)
  t.ok(Math.abs(normalUpperPoint(1e-5) - 4.264890793922825) < 1e-10, 'scipy.stats.norm.isf')
  t.ok(Math.abs(normalUpperPoint(0.9) + 1.2815515655446004) < 1e-10)
  const r = Float64Array.from({ length: 100 }, (_, lag) => (lag === 0 ? 1 : lag === 50 ? 0.3 : 0))
  const peakIn = (half: number) => autocorrelationPeak(r, new Float64Array(100).fill(half))
  t.equal(peakIn(0.2), null, 'above the band for one lag, below that for 99')
  t.strictSame(peakIn(0.15), { lag: 50, r: 0.3 })
})

test('a peak beside a known cycle is reported as such', async t => {
  const r = Float64Array.from({ length: 200 }, (_, lag) => lag / 1000)
  const peak = (lag: number, ...periods: number[]) => peakOfCycle({ lag, r: 0.9 }, r, periods)
  t.strictSame(peak(23, 24), { lag: 24, r: 0.024 })
  t.strictSame(peak(167, 24), { lag: 24, r: 0.024 }, 'the seventh repeat')
  t.strictSame(peak(25, 12, 24.4), { lag: 24.4, r: 0.024 }, 'the one that fits in the fewest times')
  t.strictSame(peak(27, 24), { lag: 27, r: 0.9 })
  t.strictSame(peak(192, 24), { lag: 192, r: 0.9 }, 'eight times')
  t.strictSame(peak(30), { lag: 30, r: 0.9 })
})

test('the repeat of a known cycle is the peak, with any band', async t => {
  const r = Float64Array.from({ length: 100 }, (_, lag) => 0.5 + 0.4 * Math.cos((2 * Math.PI * lag) / 24))
  t.strictSame(repeatOfCycles(r, [24]), { lag: 24, r: r[24] })
  t.strictSame(repeatOfCycles(r, [23.5, 12]), { lag: 23.5, r: r[24] }, 'half a day has no maximum')
  t.equal(repeatOfCycles(r, [30, 99]), null, 'no maximum there, and the end of the lags')
  t.equal(
    repeatOfCycles(
      r.map(one => one - 2),
      [24],
    ),
    null,
    'below 0',
  )
  t.equal(repeatOfCycles(r, []), null)
})

test('lags reach a week or a third of the series, hourly after the first hour', async t => {
  t.equal(autocorrelationLagMax(8640, 300), 2016)
  t.equal(autocorrelationLagMax(1000, 300), 333)
  t.strictSame(shownLags(36, 600), [0, 1, 2, 3, 4, 5, 6, 12, 18, 24, 30, 36])
  t.strictSame(shownLags(4, 3600), [0, 1, 2, 3, 4])
  t.strictSame(shownLags(3, 7200), [0, 1, 2, 3])
  t.strictSame(shownLags(2, 600), [0, 1, 2])
})
