/** Whether what comes lies within a forecast's intervals, and whether it is closer than the day before. */

import { forecast } from '../../analytics/forecast/forecast.ts'
import { autoregressive } from '../analytics/series.ts'
import type { Property } from './property.ts'

const hours = 56 * 24
const horizon = 48
const localHours = Uint8Array.from({ length: hours + horizon }, (_, hour) => hour % 24)

function dayAndNoise(phi: number, seed: number): Float64Array {
  const noise = autoregressive(1000 + hours + horizon, phi, seed).slice(1000)
  return noise.map((value, hour) => value + 4 * Math.sin((2 * Math.PI * hour) / 24))
}

/** Shares of the hours ahead. */
function outcome(phi: number, seed: number) {
  const series = dayAndNoise(phi, seed)
  const ahead = forecast({ hourly: series.subarray(0, hours), localHours })
  if (ahead === null) throw new Error('there is no forecast')
  const came = series.subarray(hours)
  const inside = (low: Float64Array, high: Float64Array) => {
    return (
      came.filter((value, hour) => value >= (low[hour] as number) && value <= (high[hour] as number)).length / horizon
    )
  }
  return {
    inside80: inside(ahead.low80, ahead.high80),
    inside95: inside(ahead.low95, ahead.high95),
    maseRatio: ahead.backTest.maseRatio ?? Number.NaN,
  }
}

export const forecastProperties: readonly Property[] = [0.7, 0.9, 0.97].flatMap(phi => [
  {
    name: `the value within the 80 % interval of a forecast, on a day and AR(1) ${phi}`,
    atLeast: 0.75,
    atMost: 0.85,
    run: (seed: number) => outcome(phi, 7919 * seed).inside80,
  },
  {
    name: `the value within the 95 % interval of a forecast, on a day and AR(1) ${phi}`,
    atLeast: 0.9,
    atMost: 1,
    run: (seed: number) => outcome(phi, 7919 * seed).inside95,
  },
  {
    name: `a forecast better than the day before in its back-test, on a day and AR(1) ${phi}`,
    atLeast: 0.95,
    run: (seed: number) => outcome(phi, 7919 * seed).maseRatio < 0.95,
  },
])
