/**
 * What simple-statistics is used for, where nothing is hot, against numpy and scipy. Fixture: fixtures/library.py.
 */

import { linearRegression, median, medianAbsoluteDeviation, quantile } from 'simple-statistics'
import { test } from 'tap'
import { lineOf } from '../../analytics/battery/line.ts'
import { deviation, readFixture } from './fixture.ts'

interface Case {
  readonly values: number[]
  readonly median: number
  readonly mad: number
  readonly slope: number
  readonly intercept: number
}

const cases = Object.entries(readFixture<Record<string, Case>>('library'))

test('medians are those of numpy', async t => {
  for (const [name, { values, median: expected }] of cases) {
    t.ok(deviation(median(values), expected) < 1e-14, name)
    t.ok(deviation(quantile(values, 0.5), expected) < 1e-14, `${name}, as a quantile`)
  }
})

test('median absolute deviations are those of scipy', async t => {
  for (const [name, { values, mad }] of cases) t.ok(deviation(medianAbsoluteDeviation(values), mad) < 1e-12, name)
})

test('least-squares lines are those of scipy', async t => {
  for (const [name, { values, slope, intercept }] of cases) {
    const line = linearRegression(values.map((value, place) => [place, value]))
    const scale = Math.max(...values.map(Math.abs))
    t.ok(Math.abs(line.m - slope) < 1e-12 * scale, `${name}, slope`)
    t.ok(Math.abs(line.b - intercept) < 1e-12 * scale, `${name}, intercept`)
  }
})

test('the line of a battery is that of scipy', async t => {
  for (const [name, { values, slope, intercept }] of cases) {
    const line = lineOf(values.map((mean, day) => ({ day, mean })))
    const scale = Math.max(...values.map(Math.abs))
    t.ok(Math.abs(line.slope - slope) < 1e-13 * scale, `${name}, slope`)
    t.ok(Math.abs(line.meanValue - line.slope * line.meanDay - intercept) < 1e-12 * scale, `${name}, level`)
  }
})
