/** Correlations against pandas and scipy. Fixture: fixtures/series-correlation.py. */

import { test } from 'tap'
import { correctedMemory, effectiveCount } from '../../../analytics/correlation/autocorrelation.ts'
import {
  correlation,
  correlationInterval,
  correlationP,
  correlationSeries,
  holmSignificant,
} from '../../../analytics/correlation/correlation.ts'
import { midRanks } from '../../../analytics/correlation/ranks.ts'
import { hourOfDayMeans, hourOfDayRemoved } from '../../../analytics/decomposition/deseasonalise.ts'
import { deviation, floats, readFixture } from '../fixture.ts'
import { autoregressive } from '../series.ts'

const reference = readFixture('series-correlation')

function hoursOf(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => i % 24)
}

function correlated(x: Float64Array, y: Float64Array) {
  return correlation(correlationSeries(x), correlationSeries(y), hoursOf(x.length))
}

test('every figure of a pair matches pandas and scipy', async t => {
  for (const { name, x, y, ...expected } of reference.correlation) {
    const result = correlated(floats(x), floats(y))
    t.equal(result.n, expected.n, name)
    t.equal(result.reason, null, name)
    for (const key of ['pearson', 'spearman', 'deseasonalised'] as const) {
      const distance = Math.abs((result[key] ?? Number.NaN) - expected[key])
      t.ok(distance < 1e-10, `${name}: ${key} is off by ${distance}`)
    }
    for (const key of ['nEffective', 'pValue', 'spearmanPValue'] as const) {
      const relative = deviation(result[key], expected[key])
      t.ok(relative < 1e-8, `${name}: ${key} is off by ${relative}`)
    }
    for (const [side, edge] of [...expected.ci95].entries()) {
      t.ok(deviation(result.ci95?.[side] ?? null, edge) < 1e-8, `${name}: ${edge}`)
    }
  }
})

test('without memory p and interval match pearsonr', async t => {
  for (const { r, n, p, ci95 } of reference.pearsonr) {
    t.ok(deviation(correlationP(r, n), p) < 1e-8, `r ${r}`)
    const interval = correlationInterval(r, n) ?? [Number.NaN, Number.NaN]
    t.ok(deviation(interval[0], ci95[0]) < 1e-8 && deviation(interval[1], ci95[1]) < 1e-8, `${interval}`)
  }
})

test('without comparable days there is no correlation beyond the daily profile', async t => {
  const [x, y] = [autoregressive(34, 0.5, 1), autoregressive(34, 0.5, 2)]
  const known = (count: number) => correlated(x.subarray(0, count), y.subarray(0, count)).deseasonalised !== null
  t.notOk(known(25), 'a day and an hour')
  t.notOk(known(32))
  t.ok(known(33), 'nine hours have a second day')
})

test('few pairs and equal values return reasons instead of numbers', async t => {
  const varied = autoregressive(30, 0.5, 1)
  const none = { pearson: null, pValue: null, ci95: null, spearman: null, spearmanPValue: null, deseasonalised: null }
  const few = varied.map((value, i) => (i < 21 ? Number.NaN : value))
  t.strictSame(correlated(varied, few), { n: 9, nEffective: null, ...none, reason: 'insufficient_data' })
  const constant = correlated(varied, new Float64Array(30).fill(0.1))
  t.strictSame(constant, { n: 30, nEffective: null, ...none, reason: 'constant' })
  t.equal(correlated(new Float64Array(0), new Float64Array(0)).reason, 'insufficient_data')
  const ten = varied.map((value, i) => (i < 10 ? value : Number.NaN))
  t.match(correlated(varied, ten), { pearson: 1, pValue: null, reason: 'too_few_independent' }, 'ten have a figure')
  t.throws(() => correlated(varied, few.subarray(1)), RangeError)
})

test('figures that need more effective values are null', async t => {
  t.strictSame([correlationP(0.5, 2), correlationP(0.5, null), correlationP(null, 10)], [null, null, null])
  t.strictSame([correlationInterval(0.5, 3), correlationInterval(0.5, null)], [null, null])
  t.strictSame([correlationP(1, 10), correlationInterval(-1, 10)], [0, [-1, -1]], 'a perfect correlation')
  const count = (x: number, y: number) => effectiveCount(100, { a: x, n: 100 }, { a: y, n: 100 })
  t.equal(count(1, 1), 2)
  t.equal(count(-0.5, 0.5), 100, 'never more than there are')
  t.equal(count(Number.NaN, 0.5), null)
  t.equal(count(-1, 1), 100)
  t.strictSame([correctedMemory(0.9, 103), correctedMemory(0.99, 100)], [0.937, 0.9999], 'without its bias')
  t.strictSame([correctedMemory(-0.2, 100), correctedMemory(0.5, 3)], [-0.2, 0.5])
})

test('mid-ranks match scipy, with ties within twelve digits', async t => {
  t.strictSame([...midRanks(floats(reference.ranks.values))], reference.ranks.ranks)
  t.strictSame([...midRanks(Float64Array.of(0.3, 0.1 + 0.2, -1, 0, -0, 1e300, 1e-320))], [5.5, 5.5, 1, 3, 3, 7, 3])
  t.strictSame([...midRanks(new Float64Array(0))], [])
  const last = Float64Array.of(20.1234567891, 20.1234567892, 20.12345678910001)
  t.strictSame([...midRanks(last)], [1.5, 3, 1.5])
})

test('Holm’s test matches statsmodels, without null values', async t => {
  const { p, significant } = reference.holm
  t.ok(significant.includes(true) && significant.includes(false))
  t.strictSame(holmSignificant(p), significant)
  t.strictSame(holmSignificant([null, ...p, null]), [false, ...significant, false])
  t.strictSame(holmSignificant([]), [])
  t.strictSame(holmSignificant([0.04, 0.01, 0.02, 0.016]), [true, true, true, true], 'Bonferroni would keep one')
  t.strictSame(holmSignificant([0.04, 0.04]), [false, false], 'one alone would do')
})

test('an hour’s mean uses its observed cells and is subtracted', async t => {
  const values = Float64Array.of(1, 5, Number.NaN, 3, 9)
  const hours = Uint8Array.of(23, 0, 23, 23, 0)
  const means = hourOfDayMeans(values, hours)
  t.strictSame([means[23], means[0], means[1]], [2, 7, Number.NaN])
  t.strictSame([...hourOfDayRemoved(values, hours)], [-1, -2, Number.NaN, 1, 2])
})
