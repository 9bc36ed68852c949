/** Moments and quantiles at their edges. */

import { test } from 'tap'
import { isConstant, momentsOf } from '../../../analytics/summary/moments.ts'
import { quantile, quantiles } from '../../../analytics/summary/quantile.ts'
import { floats, readFixture } from '../fixture.ts'

const reference = readFixture('moments')

test('a series is constant when its spread is rounding', async t => {
  const of = (name: string) => momentsOf(floats(reference.series[name].values))
  t.ok(isConstant(of('constant')) && isConstant(of('constant 0.1')) && isConstant(of('one')))
  t.equal(of('constant').std, 0)
  for (const name of ['two', 'quantised', 'pressure', 'offset', 'one spike']) t.notOk(isConstant(of(name)), name)
  t.ok(isConstant(momentsOf(Float64Array.of(0.3, 0.1 + 0.2, 0.3))), 'values that differ in their last bit')
  t.notOk(isConstant(momentsOf(Float64Array.of(0.3, 0.3 + 1e-11))))
  t.notOk(isConstant(momentsOf(new Float64Array(0))), 'nothing is not constant')
})

test('an empty series has only a count, one value no spread', async t => {
  const empty = momentsOf(Float64Array.of(Number.NaN, Number.NaN))
  const none = Number.NaN
  const rest = { mean: none, std: none, min: none, max: none, first: none, last: none, minIndex: -1, maxIndex: -1 }
  t.strictSame(empty, { count: 0, ...rest })
  t.strictSame(quantiles(new Float64Array(3).fill(Number.NaN), [0, 0.5, 1]), [Number.NaN, Number.NaN, Number.NaN])
  t.ok(Number.isNaN(momentsOf(Float64Array.of(4)).std))
  t.equal(quantile(Float64Array.of(4), 0.3), 4)
})
