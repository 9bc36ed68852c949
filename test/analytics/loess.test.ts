/** Loess against a line fitted by plain weighted least squares at each position. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { loess, loessAtEnd } from '../../analytics/decomposition/loess.ts'
import { planLoess } from '../../analytics/decomposition/loess-plan.ts'
import { runs } from '../support/runs.ts'

/**
 * The definition: the nearest `window` values, tricube distance weights, spread and slope around the weighted means.
 */
function fitAt(values: number[], weights: number[], window: number, position: number): number {
  const n = values.length
  const first = Math.max(0, Math.min(n - window, position - (window - 1) / 2))
  const last = Math.min(n - 1, first + window - 1)
  const reach = Math.max(position - first, last - position) + Math.max(0, Math.floor((window - n) / 2))
  const near = values.map((value, x) => ({ x, value, weight: 0 })).slice(first, last + 1)
  for (const point of near) {
    const distance = Math.abs(point.x - position) / reach
    const tricube = distance <= 0.001 ? 1 : (1 - distance ** 3) ** 3
    point.weight = distance <= 0.999 ? tricube * (weights[point.x] ?? 0) : 0
  }
  const sum = (of: (point: (typeof near)[number]) => number) => near.reduce((total, point) => total + of(point), 0)
  const whole = sum(({ weight }) => weight)
  if (whole <= 0) return values[position] ?? Number.NaN
  const meanX = sum(({ weight, x }) => weight * x) / whole
  const mean = sum(({ weight, value }) => weight * value) / whole
  const variance = sum(({ weight, x }) => weight * (x - meanX) ** 2) / whole
  if (Math.sqrt(variance) <= 0.001 * (n - 1)) return mean
  const covariance = sum(({ weight, x, value }) => weight * (x - meanX) * (value - mean)) / whole
  return mean + ((position - meanX) * covariance) / variance
}

const series = fc.array(
  fc.record({
    value: fc.integer({ min: 9000, max: 11_000 }).map(value => value / 10),
    // Some weights are nearly nothing, so that a far value can have all of it.
    weight: fc.constantFrom(0, 1e-11, 1e-6, 0.3, 1),
  }),
  { minLength: 1, maxLength: 60, size: 'max' },
)
const windows = fc.constantFrom(3, 5, 11, 25, 43)

test('each fit is a weighted line through the nearest values', async () => {
  fc.assert(
    fc.property(series, windows, fc.boolean(), (points, window, weighted) => {
      const values = points.map(({ value }) => value)
      const weights = points.map(({ weight }) => (weighted ? weight : 1))
      const out = new Float64Array(values.length)
      const plan = planLoess(values.length, window)
      loess(plan, Float64Array.from(values), weighted ? Float64Array.from(weights) : null, out)
      for (const [position, fit] of out.entries()) {
        const expected = fitAt(values, weights, window, position)
        assert.ok(Math.abs(fit - expected) < 1e-8, `${position}: ${fit}, not ${expected}`)
      }
    }),
    runs(100, 2000),
  )
})

test('a line is given back and continued beyond both ends', async t => {
  const values = Float64Array.from({ length: 40 }, (_, x) => 3 + 2 * x)
  for (const window of [11, 99]) {
    const plan = planLoess(values.length, window)
    for (const weights of [null, new Float64Array(40).fill(0.5)]) {
      t.ok(Math.abs(loessAtEnd(plan, values, weights, -1) - 1) < 1e-12)
      t.ok(Math.abs(loessAtEnd(plan, values, weights, 40) - 83) < 1e-12)
    }
  }
  t.ok(Number.isNaN(loessAtEnd(planLoess(40, 11), values, new Float64Array(40), -1)), 'nothing has weight')
})

test('a window must be odd and at least 3, and there must be a value', async t => {
  for (const [length, window] of [
    [0, 3],
    [5, 4],
    [5, 1],
  ] as const)
    t.throws(() => planLoess(length, window), RangeError)
})
