/** STL against statsmodels. Fixture: fixtures/stl.py. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { dailyStl, decompose, type StlOptions, weeklyStl } from '../../analytics/decomposition/stl.ts'
import { farthest, type HourlySeries, hourlySeries, readFixture } from './fixture.ts'

interface Parts {
  readonly seasonal: number[]
  readonly trend: number[]
}

interface Case extends HourlySeries {
  readonly name: string
  readonly period: number
  /** Of the parts, each so manieth value is kept. */
  readonly every: number
  readonly range: number
  readonly plain: Parts
  readonly robust: Parts
}

const cases = readFixture<Case[]>('stl')

function optionsOf(period: number, robust: boolean): StlOptions {
  return { ...(period === 24 ? dailyStl : weeklyStl), robust }
}

for (const robust of [false, true]) {
  test(`${robust ? 'robust' : 'plain'} STL is that of statsmodels`, async t => {
    let largest = 0
    for (const known of cases) {
      const { seasonal, trend } = decompose(hourlySeries(known), optionsOf(known.period, robust))
      const expected = robust ? known.robust : known.plain
      const share =
        Math.max(farthest(seasonal, expected.seasonal, known.every), farthest(trend, expected.trend, known.every)) /
        known.range
      t.ok(share <= 1e-8, `${known.name}: ${share} of the range`)
      largest = Math.max(largest, share)
    }
    t.comment(`largest deviation: ${largest} of the range`)
  })
}

test('the parts add up to the series', async t => {
  for (const known of cases) {
    const values = hourlySeries(known)
    const { seasonal, trend, remainder } = decompose(values, optionsOf(known.period, true))
    const error = (value: number, i: number) => value - (seasonal[i] ?? 0) - (trend[i] ?? 0) - (remainder[i] ?? 0)
    t.ok(Math.max(...values.map(error).map(Math.abs)) <= 1e-12 * Math.max(...values.map(Math.abs)), known.name)
  }
})

test('a shift moves the trend alone, a scale scales every part, and time may run backwards', async () => {
  const series = fc.array(fc.integer({ min: -500, max: 500 }), { minLength: 48, maxLength: 240, size: 'max' })
  const near = (part: Float64Array, expected: Float64Array) => {
    for (const [i, value] of part.entries()) assert.ok(Math.abs(value - (expected[i] ?? Number.NaN)) < 1e-7, `${i}`)
  }
  fc.assert(
    // Plain: a robust weight may fall to either side of a bound by rounding.
    fc.property(
      series,
      fc.integer({ min: -1000, max: 1000 }),
      fc.integer({ min: 1, max: 50 }),
      (list, shift, scale) => {
        const options = optionsOf(24, false)
        const values = Float64Array.from(list, value => value / 10)
        const parts = decompose(values, options)
        const shifted = decompose(
          values.map(value => value + shift),
          options,
        )
        near(shifted.seasonal, parts.seasonal)
        near(
          shifted.trend,
          parts.trend.map(value => value + shift),
        )
        near(
          decompose(
            values.map(value => value * scale),
            options,
          ).seasonal,
          parts.seasonal.map(value => value * scale),
        )
        const reversed = decompose(values.toReversed(), options)
        near(reversed.trend.toReversed(), parts.trend)
        near(reversed.seasonal.toReversed(), parts.seasonal)
      },
    ),
    { numRuns: 40 },
  )
})

test('a constant is all trend, and less than two seasons are refused', async t => {
  const { seasonal, trend, remainder } = decompose(new Float64Array(100).fill(0.1), dailyStl)
  t.ok(trend.every(value => Math.abs(value - 0.1) < 1e-15))
  t.ok([...seasonal, ...remainder].every(value => Math.abs(value) < 1e-15))
  t.throws(() => decompose(new Float64Array(47), dailyStl), RangeError)
})
