/** Forecasts of series whose future is known, and the parts that they are made of. */

import { type Test, test } from 'tap'
import { extendAutoregression, fitAutoregression } from '../../analytics/forecast/autoregression.ts'
import { forecast } from '../../analytics/forecast/forecast.ts'
import { horizonHours } from '../../analytics/forecast/history.ts'
import { leastSquares } from '../../analytics/forecast/least-squares.ts'
import { models } from '../../analytics/forecast/models.ts'
import { autoregressive, withLoss } from './series.ts'

const hours = 56 * 24
const localHours = Uint8Array.from({ length: hours + horizonHours }, (_, hour) => hour % 24)
const dayAt = (hour: number) => 15 + 4 * Math.sin((2 * Math.PI * hour) / 24) + Math.cos((2 * Math.PI * hour) / 12)
const day = Float64Array.from({ length: hours + horizonHours }, (_, hour) => dayAt(hour))

function near(t: Test, values: Float64Array, expected: (hour: number) => number, tolerance: number, text: string) {
  t.ok(
    values.every((value, hour) => Math.abs(value - expected(hour)) <= tolerance),
    text,
  )
}

test('the coefficients of autoregressive processes', async t => {
  const first = fitAutoregression(autoregressive(20_000, 0.8, 3))
  t.ok(Math.abs((first[0] ?? 0) - 0.8) < 0.03)
  t.equal(fitAutoregression(new Float64Array(100)).length, 0, 'none when nothing varies')
  const ahead = extendAutoregression(Float64Array.of(1, 2), Float64Array.of(0.5, 0.25), 3)
  t.strictSame([...ahead], [1.25, 1.125, 0.875])
})

test('least squares of given terms', async t => {
  const terms = [new Float64Array(50).fill(1), Float64Array.from({ length: 50 }, (_, place) => place / 50)]
  const values = Float64Array.from({ length: 50 }, (_, place) => 3 - (2 * place) / 50)
  const [level = 0, slope = 0] = leastSquares(terms, values)
  t.ok(Math.abs(level - 3) < 1e-9 && Math.abs(slope + 2) < 1e-9)
  const twice = leastSquares([...terms, terms[1] as Float64Array], values)
  t.ok(twice.every(Number.isFinite), 'a term that comes twice')
})

test('each model continues a day that repeats', async t => {
  for (const [place, model] of models.entries()) {
    const values = model({ values: day.subarray(0, hours), localHours })
    near(t, values, hour => dayAt(hours + hour), 0.02, `model ${place}`)
  }
})

test('a day that repeats, with hours missing', async t => {
  const hourly = withLoss(day.subarray(0, hours), 0.3, 5)
  const found = forecast({ hourly, localHours })
  if (found === null) throw new Error('there is no forecast')
  near(t, found.median, hour => dayAt(hours + hour), 0.05, 'continues')
  t.match(found.backTest, { origins: 40, mase: null, maseRatio: null }, 'errors are rounding')
})

test('too little of a series has no forecast', async t => {
  const { subarray } = Float64Array.prototype
  t.equal(forecast({ hourly: subarray.call(day, 0, 14 * 24 - 1), localHours }), null)
  t.not(forecast({ hourly: subarray.call(day, 0, 14 * 24), localHours }), null)
  t.equal(forecast({ hourly: withLoss(day.subarray(0, hours), 0.45, 5), localHours }), null)
  t.equal(forecast({ hourly: new Float64Array(hours).fill(Number.NaN), localHours }), null)
  const young = day.map((value, hour) => (hour < hours - 300 ? Number.NaN : value)).subarray(0, hours)
  t.equal(forecast({ hourly: young, localHours }), null, 'what was missing before the first value does not count')
})

test('bounds hold', async t => {
  const noise = autoregressive(hours, 0.9, 3).map(value => 98 + 3 * value)
  const hourly = noise.map(value => Math.min(100, value))
  const found = forecast({ hourly, localHours, range: [0, 100] })
  t.ok(found?.high95.every(value => value <= 100))
  t.ok(found?.low95.every((value, hour) => value <= (found.median[hour] as number)))
})
