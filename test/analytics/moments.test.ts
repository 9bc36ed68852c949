/** Moments and quantiles against numpy. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { isConstant, momentsOf } from '../../analytics/summary/moments.ts'
import { quantile, quantiles } from '../../analytics/summary/quantile.ts'
import { runs } from '../support/runs.ts'
import { deviation, floats, readFixture } from './fixture.ts'

interface Figures {
  values: (number | null)[]
  count: number
  mean: number
  std: number | null
  min: number
  max: number
  first: number
  last: number
  quantiles: number[]
}

const reference = readFixture<{ probabilities: number[]; series: Record<string, Figures> }>('moments')

test('moments and quantiles are numpy’s, whatever the sensor does', async t => {
  for (const [name, figures] of Object.entries(reference.series)) {
    const values = floats(figures.values)
    const { count, mean, std, min, max, first, last } = momentsOf(values)
    const { count: countExpected, min: minExpected, max: maxExpected } = figures
    t.strictSame([count, min, max], [countExpected, minExpected, maxExpected], name)
    t.strictSame([first, last], [figures.first, figures.last], name)
    t.ok(deviation(mean, figures.mean) < 1e-12, `${name}: mean ${mean}`)
    t.ok(isConstant(momentsOf(values)) || deviation(std, figures.std) < 1e-10, `${name}: std ${std}`)
    const found = quantiles(values, reference.probabilities)
    const errors = found.map((value, index) => deviation(value, figures.quantiles[index] ?? null))
    t.ok(Math.max(...errors) < 1e-12, `${name}: quantiles ${found}`)
  }
})

test('a series is constant when its spread is rounding', async t => {
  const of = (name: string) => momentsOf(floats(reference.series[name]?.values ?? []))
  t.ok(isConstant(of('constant')) && isConstant(of('constant 0.1')) && isConstant(of('one')))
  t.equal(of('constant').std, 0)
  for (const name of ['two', 'quantised', 'pressure', 'offset', 'one spike']) t.notOk(isConstant(of(name)), name)
  t.ok(isConstant(momentsOf(Float64Array.of(0.3, 0.1 + 0.2, 0.3))), 'values that differ in their last bit')
  t.notOk(isConstant(momentsOf(Float64Array.of(0.3, 0.3 + 1e-11))))
  t.notOk(isConstant(momentsOf(new Float64Array(0))), 'nothing is not constant')
})

test('nothing has a count and no more, one value has no spread', async t => {
  const empty = momentsOf(Float64Array.of(Number.NaN, Number.NaN))
  const none = Number.NaN
  const rest = { mean: none, std: none, min: none, max: none, first: none, last: none, minIndex: -1, maxIndex: -1 }
  t.strictSame(empty, { count: 0, ...rest })
  t.strictSame(quantiles(new Float64Array(3).fill(Number.NaN), [0, 0.5, 1]), [Number.NaN, Number.NaN, Number.NaN])
  t.ok(Number.isNaN(momentsOf(Float64Array.of(4)).std))
  t.equal(quantile(Float64Array.of(4), 0.3), 4)
})

test('quantiles are those of the sorted values, and leave the series as it is', async () => {
  const numbers = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 60 })
  // Several at once, with some that fall between the same two values.
  const probabilities = fc.array(fc.float({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })
  fc.assert(
    fc.property(numbers, probabilities, (list, asked) => {
      const values = Float64Array.from(list)
      const sorted = values.toSorted()
      const ascending = asked.toSorted((a, b) => a - b)
      const found = quantiles(values, ascending)
      for (const [index, probability] of ascending.entries()) {
        const place = (list.length - 1) * probability
        const low = sorted[Math.floor(place)] as number
        const high = sorted[Math.ceil(place)] as number
        const expected = low + (high - low) * (place - Math.floor(place))
        assert.ok(Math.abs((found[index] as number) - expected) < 1e-12)
      }
      assert.deepEqual([...values], list)
    }),
    runs(200, 2000),
  )
})
