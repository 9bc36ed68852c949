/** Filled gaps and strengths against pandas and statsmodels. Fixture: fixtures/strength.py. */

import { test } from 'tap'
import { strengthLabel, strengthOf } from '../../../analytics/decomposition/strength.ts'
import { hampelClean } from '../../../analytics/quality/hampel.ts'
import { reasons } from '../../../analytics/reasons.ts'
import { fillGaps } from '../../../analytics/time/fill-gaps.ts'
import { floats, readFixture } from '../fixture.ts'

const cases = readFixture('strength')

function hoursFrom(first: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index + first) % 24)
}

function sine(days: number): Float64Array {
  return Float64Array.from({ length: 24 * days }, (_, hour) => 20 + 5 * Math.sin((2 * Math.PI * hour) / 24))
}

test("gaps are filled by pandas' hour of the day, then by numpy's interpolation", async t => {
  for (const { name, values, first_hour, filled } of cases) {
    const cells = floats(values)
    const got = fillGaps(cells, hoursFrom(first_hour, cells.length))
    const isKept = got.every((value, index) => Number.isNaN(cells[index]) || value === cells[index])
    t.ok(isKept, `${name}: observed stays`)
    const added = [...got].filter((_, index) => Number.isNaN(cells[index]))
    const errors = added.map((value, index) => Math.abs(value - (filled[index] ?? Number.NaN)))
    t.ok(Math.max(0, ...errors) <= 1e-10, name)
  }
})

test('a gap in a daily cycle is filled with the cycle', async t => {
  const cells = sine(6)
  const holed = cells.map((value, index) => (index >= 50 && index < 90 ? Number.NaN : value))
  const filled = fillGaps(holed, hoursFrom(0, cells.length))
  t.ok(filled.every((value, index) => Math.abs(value - (cells[index] ?? 0)) < 1e-12))
  const hours = hoursFrom(0, 72)
  const noMidnight = Float64Array.from(hours, hour => (hour === 0 ? Number.NaN : hour))
  t.equal(fillGaps(noMidnight, hours)[24], 12, 'between 23 and 1, round the clock')
  t.throws(() => fillGaps(new Float64Array(48).fill(Number.NaN), hoursFrom(0, 48)), RangeError)
})

test('strengths match statsmodels’ robust STL', async t => {
  for (const { name, values, first_hour, ...expected } of cases) {
    const got = strengthOf(floats(values), hoursFrom(first_hour, values.length), true)
    t.equal(got.reason, null, name)
    for (const part of ['daily', 'trend', 'weekly'] as const) {
      const error = Math.abs((got[part] ?? -1) - (expected[part] ?? -1))
      t.ok(error <= 1e-6, `${name}: ${part} ${got[part]}`)
    }
  }
})

test('a pure daily cycle is all season and no trend', async t => {
  const cells = sine(30)
  t.match(strengthOf(cells, hoursFrom(0, cells.length), false), { daily: 1, weekly: null, trend: 0 })
  const withWeek = strengthOf(cells, hoursFrom(0, cells.length), true)
  t.equal(withWeek.weekly, 0, 'rounding errors have no week')
})

test('Hampel’s filter recovers a season hidden by one spike', async t => {
  const spiked = sine(30).map((value, hour) => (value - 20) / 5 + (hour === 300 ? 100 : 0))
  const daily = (cells: Float64Array) => strengthOf(cells, hoursFrom(0, cells.length), false).daily ?? Number.NaN
  t.ok(daily(spiked) < 0.3, `${daily(spiked)}`)
  t.ok(daily(hampelClean(spiked)) > 0.999)
})

test('a weekly season needs three weeks and a peak in the spectrum', async t => {
  const twoWeeks = sine(20)
  t.equal(strengthOf(twoWeeks, hoursFrom(0, twoWeeks.length), true).weekly, null)
  const threeWeeks = sine(21)
  t.equal(strengthOf(threeWeeks, hoursFrom(0, threeWeeks.length), false).weekly, null)
  t.equal(strengthOf(threeWeeks, hoursFrom(0, threeWeeks.length), true).weekly, 0)
})

test('strength is null under three days, under 60 % of the hours or for a constant', async t => {
  t.equal(strengthOf(sine(3).subarray(1), hoursFrom(1, 71), false).reason, reasons.shortSpan)
  const lost = (hours: number) => sine(10).map((value, index) => (index < hours ? Number.NaN : value))
  t.equal(strengthOf(lost(97), hoursFrom(0, 240), false).reason, reasons.sparseHours)
  t.equal(strengthOf(lost(96), hoursFrom(0, 240), false).reason, null)
  t.match(strengthOf(new Float64Array(240).fill(0.1), hoursFrom(0, 240), false), { daily: 0, trend: 0 })
  t.equal(strengthOf(new Float64Array(0), new Uint8Array(0), false).daily, null)
})

test('variation below half a step of the sensor has no strength', async t => {
  const steps = sine(10).map(value => Math.round(value / 20) * 20)
  const none = { daily: null, weekly: null, trend: null, reason: reasons.nearlyConstant }
  t.strictSame(strengthOf(steps, hoursFrom(0, 240), false, 20), none)
  t.equal(strengthOf(sine(10), hoursFrom(0, 240), false, 5).reason, null)
})

test('light that is 0 for most of the day varies', async t => {
  const light = Float64Array.from({ length: 240 }, (_, hour) => (hour % 24 > 19 ? 300 * (hour % 24) - 5000 : 0))
  t.equal(strengthOf(light, hoursFrom(0, 240), false, 1).reason, null)
  const rare = light.map((value, hour) => (hour % 24 === 22 ? value : 0))
  t.equal(strengthOf(rare, hoursFrom(0, 240), false, 1).reason, null, 'in one hour of the day, by more than 100 steps')
})

test('half a step is the least scale of the robust weights', async t => {
  // A reading in twenty is a step off. A scale of rounding errors would exclude it from the season.
  const cells = sine(30).map((value, hour) => value + (hour % 20 === 0 ? 0.1 : 0))
  const daily = (quantum: number) => strengthOf(cells, hoursFrom(0, 720), false, quantum).daily ?? 0
  t.ok(daily(0.1) < 1 && daily(0.1) > 0.999, `${daily(0.1)}`)
  t.not(daily(0.1), daily(0), 'without it the weights are others')
})

test('labels change at 0.3 and 0.64', async t => {
  const labels = [0, 0.2999, 0.3, 0.6399, 0.64, 1].map(daily => strengthLabel(daily, true))
  t.strictSame(labels, ['weak', 'weak', 'moderate', 'moderate', 'strong', 'strong'])
  t.equal(strengthLabel(1, false), 'none', 'without a peak')
})
