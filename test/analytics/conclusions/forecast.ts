/** Forecasts of series with a known future, and their parts. */

import { type Test, test } from 'tap'
import { backTest, forecast } from '../../../analytics/forecast/forecast.ts'
import { leastSquares } from '../../../analytics/forecast/least-squares.ts'
import {
  extendAutoregression,
  fitAutoregression,
  horizonHours,
  models,
  weightsOf,
} from '../../../analytics/forecast/models.ts'
import { autoregressive, withLoss } from '../series.ts'

const hours = 56 * 24
const localHours = Uint8Array.from({ length: hours + horizonHours }, (_, hour) => hour % 24)
const dayAt = (hour: number) => 15 + 4 * Math.sin((2 * Math.PI * hour) / 24) + Math.cos((2 * Math.PI * hour) / 12)
const day = Float64Array.from({ length: hours + horizonHours }, (_, hour) => dayAt(hour))

function near(t: Test, values: Float64Array, expected: (hour: number) => number, tolerance: number, text: string) {
  const isNear = values.every((value, hour) => Math.abs(value - expected(hour)) <= tolerance)
  t.ok(isNear, text)
}

test('coefficients of autoregressive processes', async t => {
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

test('each model continues a repeating day', async t => {
  for (const [place, { ahead }] of models.entries()) {
    const values = ahead({ values: day.subarray(0, hours), localHours })
    near(t, values, hour => dayAt(hours + hour), 0.02, `model ${place}`)
  }
})

test('a repeating day with missing hours continues', async t => {
  const hourly = withLoss(day.subarray(0, hours), 0.3, 5)
  const found = forecast({ hourly, localHours })
  if (found === null) throw new Error('there is no forecast')
  near(t, found.median, hour => dayAt(hours + hour), 0.05, 'continues')
  t.match(found.backTest, { origins: 40, mase: null, maseRatio: null }, 'errors are rounding')
})

test('a short series has no forecast', async t => {
  const { subarray } = Float64Array.prototype
  t.equal(forecast({ hourly: subarray.call(day, 0, 14 * 24 - 1), localHours }), null)
  t.not(forecast({ hourly: subarray.call(day, 0, 14 * 24), localHours }), null)
  t.equal(forecast({ hourly: withLoss(day.subarray(0, hours), 0.45, 5), localHours }), null)
  t.equal(forecast({ hourly: new Float64Array(hours).fill(Number.NaN), localHours }), null)
  const young = day.map((value, hour) => (hour < hours - 300 ? Number.NaN : value)).subarray(0, hours)
  t.equal(forecast({ hourly: young, localHours }), null, 'what was missing before the first value does not count')
})

test("a silent device's forecast is tested after an equal silence, with no later values", async t => {
  const series = autoregressive(hours, 0.95, 7).map((value, hour) => value + dayAt(hour))
  const tried = (values: Float64Array) => backTest(values, localHours).tests
  const silent = series.map((value, hour) => (hour < hours - 72 ? value : Number.NaN))
  t.equal(tried(silent).length, 40, 'origins after which nothing came are none')
  const width = (values: Float64Array) => {
    const { low80 = [], high80 = [] } = forecast({ hourly: values, localHours }) ?? {}
    return Number(high80[0]) - Number(low80[0])
  }
  t.ok(width(silent) > 1.5 * width(series), `${width(silent)}, ${width(series)}`)

  const gap = (hour: number) => hour >= 1000 && hour < 1008
  const holed = series.map((value, hour) => (gap(hour) ? Number.NaN : value))
  const origin = tried(holed).findIndex((_, place) => hours - 48 - 24 * place === 1008)
  const later = holed.map((value, hour) => (hour >= 1008 ? value + 100 : value))
  const [one, other] = [holed, later].map(values => tried(values)[origin]?.errors ?? Float64Array.of())
  const isFrom = one?.every((error, hour) => Math.abs(error + 100 - (other?.[hour] ?? 0)) < 1e-9)
  t.ok(isFrom, 'a gap before an origin')
})

test('a forecast needs 14 days, which six days of silence may follow', async t => {
  const series = autoregressive(hours, 0.9, 7)
  const until = (known: number, all: number) => {
    return series.subarray(0, all).map((value, hour) => (hour < known ? value : Number.NaN))
  }
  for (const silent of [144, 150, 200]) {
    const found = forecast({ hourly: until(336, 336 + silent), localHours })
    t.ok((found?.backTest.origins ?? 0) >= 1, `${silent}`)
    t.ok(found?.high80.every((value, hour) => value > Number(found.low80[hour])))
  }
  t.equal(forecast({ hourly: until(335, 336), localHours }), null)
})

test('a repeating week continues', async t => {
  const weekly = day.map((value, hour) => value + (Math.floor(hour / 24) % 7 < 5 ? 10 : 0))
  const noise = autoregressive(weekly.length, 0.5, 9)
  const series = weekly.map((value, hour) => value + 0.1 * (noise[hour] as number))
  const found = forecast({ hourly: series.subarray(0, hours), localHours })
  if (found === null) throw new Error('there is no forecast')
  near(t, found.median, hour => weekly[hours + hour] as number, 1, 'the weekend is on its days')
  const weights = (...ofModels: number[]) => [
    ...weightsOf(Array.from({ length: 8 }, () => Float64Array.from(ofModels))),
  ]
  t.strictSame(weights(2, 4, 2, 1, Number.NaN, 4), [1 / 16, 1 / 256, 1 / 16, 1, 0, 1 / 256])
  t.strictSame(weights(1, 2, 1, 0.9, Number.NaN, 4), [1, 1, 1, 0, 0, 0], 'a small gain may be chance')
  t.strictSame([...weightsOf([Float64Array.of(2, 4, 2, 1, 1, 1)])], [1, 1, 1, 0, 0, 0], 'too few')
})

test('a forecast stays within the range of the metric', async t => {
  const noise = autoregressive(hours, 0.9, 3).map(value => 98 + 3 * value)
  const hourly = noise.map(value => Math.min(100, value))
  const found = forecast({ hourly, localHours, range: [0, 100] })
  t.ok(found?.high95.every(value => value <= 100))
  t.ok(found?.low95.every((value, hour) => value <= (found.median[hour] as number)))
})
