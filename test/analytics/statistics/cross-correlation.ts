/** Cross-correlation against statsmodels and the definition. Fixture: fixtures/series-correlation.py. */

import { test } from 'tap'
import { type SeriesTransform, seriesTransform } from '../../../analytics/correlation/block-spectra.ts'

import { crossCorrelation, largestCrossCorrelation, significantLag } from '../../../analytics/correlation/lag.ts'
import { type Fixture, floats, readFixture } from '../fixture.ts'
import { autoregressive, found, withLoss } from '../series.ts'

const { cross } = readFixture('series-correlation')

function crossed(x: Float64Array, y: Float64Array, lagMax: number) {
  return crossCorrelation(found(seriesTransform(x, lagMax)), found(seriesTransform(y, lagMax)))
}

test('r at every lag matches statsmodels, and with gaps the definition', async t => {
  for (const { name, x, y, lags, r, pairs } of cross) {
    const result = crossed(floats(x), floats(y), lags)
    const largest = Math.max(...result.r.map((value, place) => Math.abs(value - (r[place] ?? Number.NaN))))
    t.ok(largest < 1e-9, `${name}: off by ${largest}`)
    if (pairs !== null) t.strictSame([...result.pairs], pairs, name)
    const sizes: number[] = r.map((value: Fixture) => Math.abs(value ?? 0))
    const best = sizes.indexOf(Math.max(...sizes))
    t.equal(found(largestCrossCorrelation(result)).lag, best - lags, `${name}: the lag`)
  }
})

test('only series that miss the same cells share a mask, with the same result', async t => {
  const x = withLoss(autoregressive(5000, 0.9, 1), 0.2, 1)
  const alike = withLoss(autoregressive(5000, 0.9, 2), 0.2, 1)
  const other = withLoss(autoregressive(5000, 0.9, 3), 0.2, 2)
  const xTransform = found(seriesTransform(x, 700))
  for (const y of [alike, other]) {
    const yTransform = found(seriesTransform(y, 700, [undefined, xTransform]))
    t.equal(yTransform.mask === xTransform.mask, y === alike)
    for (const turn of ['first', 'again'])
      t.strictSame(crossCorrelation(xTransform, yTransform), crossed(x, y, 700), turn)
    t.strictSame(crossCorrelation(yTransform, xTransform), crossed(y, x, 700), 'the other way round')
  }
  const fewerLags = found(seriesTransform(alike, 600, [xTransform]))
  t.not(fewerLags.mask, xTransform.mask, 'for other lags the blocks may be others')
})

test('a generated delay is found, with gaps, for any length beside the lags', async t => {
  for (const { length, delay } of [
    { length: 1024, delay: 200 },
    { length: 1025, delay: -300 },
    { length: 3072, delay: 1024 },
    { length: 9000, delay: -77 },
  ]) {
    const source = autoregressive(length + 2048, 0.5, length)
    const x = withLoss(source.subarray(1024, 1024 + length), 0.2, 1)
    const y = withLoss(source.subarray(1024 - delay, 1024 - delay + length), 0.2, 2)
    t.equal(found(largestCrossCorrelation(crossed(x, y, Math.min(1024, length - 1)))).lag, delay, `${length} cells`)
  }
})

test('equal peaks return the smallest lag, and lags with too few pairs none', async t => {
  const equal = { lagMax: 2, r: Float64Array.of(0.9, 0.1, 0.3, -0.9, 0.2), pairs: new Float64Array(5) }
  t.strictSame(largestCrossCorrelation(equal), { lag: 1, r: -0.9 })
  const sparse = autoregressive(400, 0, 1).map((value, i) => (i < 15 || i > 380 ? value : Number.NaN))
  const result = crossed(sparse, sparse, 30)
  t.ok(Number.isNaN(result.r[0]), 'no pair is 30 apart')
  t.equal(largestCrossCorrelation(result)?.lag, 0)
  t.equal(largestCrossCorrelation({ lagMax: 0, r: Float64Array.of(Number.NaN), pairs: Float64Array.of(3) }), null)
})

test('a constant series has no transform', async t => {
  t.equal(seriesTransform(new Float64Array(30).fill(0.1), 5), undefined)
  t.equal(seriesTransform(new Float64Array(0), 0), undefined)
  const two = found(seriesTransform(Float64Array.of(1, 2), 1))
  t.throws(() => crossCorrelation(two, found(seriesTransform(Float64Array.of(1, 2, 3), 1))))
})

test('a lag has Pearson’s correlation of its pairs, and is undefined when chance explains it', async t => {
  const transforms = (x: Float64Array, y: Float64Array): [SeriesTransform, SeriesTransform] => {
    const first = found(seriesTransform(x, 24))
    return [first, found(seriesTransform(y, 24, [first]))]
  }
  const source = autoregressive(723, 0.9, 5)
  const x = withLoss(source.subarray(3), 0.3, 1)
  const follower = source.subarray(0, 720).map(value => 7 - 2 * value)
  const lag = found(significantLag(...transforms(x, follower), 40))
  t.equal(lag.lag, 3)
  t.ok(Math.abs(lag.r + 1) < 1e-12, `${lag.r} with other means and spreads than those of all values`)
  t.equal(found(significantLag(...transforms(follower, x), 40)).lag, -3)
  const unrelated = autoregressive(720, 0.9, 78)
  t.equal(significantLag(...transforms(x, unrelated), 75), null)
  t.not(significantLag(...transforms(x, unrelated), 720), null, 'as it would be if every cell counted')
  t.equal(significantLag(...transforms(x, follower), null), null, 'without a count')
  t.equal(significantLag(...transforms(x, follower), 2), null)
})
