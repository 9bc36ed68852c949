/** Coverage of a forecast's intervals, and its error compared with the day before. */

import { forecast } from '../../analytics/forecast/forecast.ts'
import { quantilesInPlace } from '../../analytics/summary/quantile.ts'
import { autoregressive } from '../analytics/series.ts'
import type { Property } from './property.ts'

const hours = 56 * 24
const horizon = 48
const localHours = Uint8Array.from({ length: hours + horizon }, (_, hour) => hour % 24)

/** Missing hours of the history and of the hours ahead. */
type Missing = (hour: number) => boolean

const without = (series: Float64Array, isMissing: Missing) =>
  series.map((value, hour) => (isMissing(hour) ? Number.NaN : value))
const nights: Missing = hour => hour % 24 >= 16
const silentHours = 48
const silence: Missing = hour => hour >= hours - silentHours && hour < hours

function dayAndNoise(phi: number, seed: number): Float64Array {
  const noise = autoregressive(1000 + hours + horizon, phi, seed).slice(1000)
  return noise.map((value, hour) => value + 4 * Math.sin((2 * Math.PI * hour) / 24))
}

/** Shares of the hours ahead. */
function outcome(series: Float64Array) {
  const known = series.subarray(0, hours)
  const ahead = forecast({ hourly: known, localHours })
  if (ahead === null) throw new Error('there is no forecast')
  const came = series.subarray(hours)
  const count = came.filter(value => !Number.isNaN(value)).length
  const inside = (low: Float64Array, high: Float64Array) =>
    came.filter((value, hour) => value >= (low[hour] as number) && value <= (high[hour] as number)).length / count
  return {
    inside80: inside(ahead.low80, ahead.high80),
    inside95: inside(ahead.low95, ahead.high95),
    maseRatio: ahead.backTest.maseRatio ?? Number.NaN,
    scoreRatio: intervalScore(ahead.low95, ahead.high95, came) / intervalScore(...dayBefore(known), came),
  }
}

const alpha = 0.05

/** The width and the distance of values outside: the numerator of MSIS (Gneiting and Raftery 2007). */
function intervalScore(low: Float64Array, high: Float64Array, came: Float64Array): number {
  const scores = came.map((value, hour) => {
    const [from, to] = [low[hour] as number, high[hour] as number]
    return to - from + (2 / alpha) * (Math.max(0, from - value) + Math.max(0, value - to))
  })
  return scores.reduce((sum, score) => sum + score, 0) / scores.length
}

/** The 95 % interval of "as the day before", by its errors one and two days ahead. */
function dayBefore(known: Float64Array): [low: Float64Array, high: Float64Array] {
  const side = (share: number) => {
    return Float64Array.from({ length: horizon }, (_, hour) => {
      const apart = hour < 24 ? 24 : 48
      const errors = known.subarray(apart).map((value, at) => value - (known[at] as number))
      return (known[hours - 24 + (hour % 24)] as number) + (quantilesInPlace(errors, [share])[0] as number)
    })
  }
  return [side(alpha / 2), side(1 - alpha / 2)]
}

const missingProperties: readonly Property[] = (
  [
    ['the last 8 hours of each day missing', 0.9, nights],
    ['48 hours of silence before it', 0.95, silence],
  ] as const
).map(([what, phi, isMissing]) => ({
  name: `the value within the 80 % interval of a forecast, with ${what}, on a day and AR(1) ${phi}`,
  atLeast: 0.73,
  atMost: 0.88,
  run: (seed: number) => outcome(without(dayAndNoise(phi, 7919 * seed), isMissing)).inside80,
}))

const completeProperties: readonly Property[] = [0.7, 0.9, 0.97].flatMap(phi => [
  {
    name: `the value within the 80 % interval of a forecast, on a day and AR(1) ${phi}`,
    atLeast: 0.75,
    atMost: 0.85,
    run: (seed: number) => outcome(dayAndNoise(phi, 7919 * seed)).inside80,
  },
  {
    name: `the value within the 95 % interval of a forecast, on a day and AR(1) ${phi}`,
    atLeast: 0.9,
    atMost: 1,
    run: (seed: number) => outcome(dayAndNoise(phi, 7919 * seed)).inside95,
  },
  {
    name: `a forecast better than the day before in its back-test, on a day and AR(1) ${phi}`,
    atLeast: 0.95,
    run: (seed: number) => outcome(dayAndNoise(phi, 7919 * seed)).maseRatio < 0.95,
  },
])

/** An office: busy from Monday to Friday. */
function weekAndNoise(seed: number): Float64Array {
  const noise = autoregressive(1000 + hours + horizon, 0.9, seed).slice(1000)
  return noise.map((value, hour) => {
    const isBusy = Math.floor(hour / 24) % 7 < 5 && hour % 24 >= 8 && hour % 24 < 18
    return 2 * value + (isBusy ? 15 : 0) + 4 * Math.sin((2 * Math.PI * hour) / 24)
  })
}

/** The error divided by the error of the previous week's values. */
function againstWeek(series: Float64Array): number {
  const { median } = forecast({ hourly: series.subarray(0, hours), localHours }) ?? {}
  const error = (of: (hour: number) => number) => {
    return series.subarray(hours).reduce((sum, value, hour) => sum + Math.abs(value - of(hour)), 0)
  }
  return error(hour => median?.[hour] ?? Number.NaN) / error(hour => series[hours + hour - 168] as number)
}

const onWeek = 'an office week and AR(1) 0.9'
const weekProperties: readonly Property[] = [
  {
    name: `the error of a forecast over that of the week before, on ${onWeek}`,
    atMost: 0.9,
    run: seed => againstWeek(weekAndNoise(7919 * seed)),
  },
  {
    name: `the value within the 80 % interval of a forecast, on ${onWeek}`,
    atLeast: 0.75,
    atMost: 0.85,
    run: seed => outcome(weekAndNoise(7919 * seed)).inside80,
  },
  {
    name: `the value within the 95 % interval of a forecast, on ${onWeek}`,
    atLeast: 0.9,
    atMost: 1,
    run: seed => outcome(weekAndNoise(7919 * seed)).inside95,
  },
]

/** The bounds are the scores of three models of equal weights. */
const scoreProperties: readonly Property[] = [
  ...[
    { phi: 0.7, atMost: 0.75 },
    { phi: 0.9, atMost: 0.75 },
    { phi: 0.97, atMost: 0.8 },
  ].map(({ phi, atMost }) => ({
    name: `the score of a forecast's 95 % interval over that of the day before, on a day and AR(1) ${phi}`,
    atMost,
    run: (seed: number) => outcome(dayAndNoise(phi, 7919 * seed)).scoreRatio,
  })),
  {
    name: `the score of a forecast's 95 % interval over that of the day before, on ${onWeek}`,
    atMost: 0.58,
    run: seed => outcome(weekAndNoise(7919 * seed)).scoreRatio,
  },
]

export const forecastProperties: readonly Property[] = [
  ...completeProperties,
  ...missingProperties,
  ...weekProperties,
  ...scoreProperties,
]
