/** Whether one series follows another. */

import { autoregressive, uniform } from '../analytics/series.ts'
import { ask, dayMs, every, hourMs, minuteMs, seriesOf } from '../query/stats/stats-of.ts'
import type { Property } from './property.ts'

const hours = 720
const startMs = Date.UTC(2025, 5, 1)

/** The pair of two hourly series. */
function pairOf(temperature: Float64Array, humidity: Float64Array) {
  const series = seriesOf(every(hourMs, startMs, temperature.length), {
    temperature: (_, place) => temperature[place] as number,
    humidity: (_, place) => humidity[place] as number,
  })
  return ask({ series }).correlations.pairs[0] as { lag_seconds: number | null; lag_r: number | null }
}

function falseLags(phi: number): Property {
  return {
    name: `a lag between independent AR(1) ${phi} series of 30 days`,
    atMost: 0.05,
    run: seed => {
      const pair = pairOf(autoregressive(hours, phi, 2 * seed), autoregressive(hours, phi, 7919 * seed + 1))
      return pair.lag_seconds !== null
    },
  }
}

/** Two series of 30 days that have nothing in common but a day, of twice the deviation of the noise that they are in. */
function lagOfDays(phi: number, stepMs: number, shiftHours: number, seed: number): number | null {
  const cells = (hours * hourMs) / stepMs
  const amplitude = 2 / Math.sqrt(1 - phi * phi)
  const [x, y] = [autoregressive(cells, phi, 2 * seed), autoregressive(cells, phi, 7919 * seed + 1)]
  const day = (cell: number, shift: number) =>
    amplitude * Math.sin((2 * Math.PI * (cell * stepMs - shift * hourMs)) / dayMs)
  const series = seriesOf(every(stepMs, startMs, cells), {
    temperature: (_, cell) => (x[cell] as number) + day(cell, 0),
    humidity: (_, cell) => (y[cell] as number) + day(cell, shiftHours),
  })
  return ask({ series }).correlations.pairs[0].lag_seconds
}

export const lagProperties: readonly Property[] = [
  ...[hourMs, 5 * minuteMs].flatMap(stepMs =>
    [0, 0.7, 0.9].flatMap(phi =>
      [0, 3].map(shift => ({
        name: `a lag between AR(1) ${phi} series every ${stepMs / 1000} s that share a day, ${shift} h apart`,
        atMost: 0.05,
        run: (seed: number) => lagOfDays(phi, stepMs, shift, seed) !== null,
      })),
    ),
  ),
  {
    name: 'a lag of 3 h found, of AR(1) 0.9 series of which one is the other later, with a day in both',
    atLeast: 0.95,
    run: seed => {
      const source = autoregressive(hours + 3, 0.9, seed)
      const day = (hour: number) => 4 * Math.sin((2 * Math.PI * hour) / 24)
      const first = source.slice(3).map((value, hour) => value + day(hour))
      const second = source.slice(0, hours).map((value, hour) => value + day(hour))
      return pairOf(first, second).lag_seconds === 3 * 3600
    },
  },
  ...[0.5, 0.7, 0.9, 0.95].map(falseLags),
  {
    name: 'a lag of 3 h found, of a series that follows another with half of its variance as noise',
    atLeast: 0.95,
    run: seed => {
      const source = autoregressive(hours + 3, 0.9, seed)
      const noise = autoregressive(hours, 0.9, 104_729 * seed)
      const follower = noise.map((value, hour) => value + (source[hour] as number))
      return pairOf(source.slice(3), follower).lag_seconds === 3 * 3600
    },
  },
  {
    name: 'a correlation at the lag of 1.001 or more, of a series with half of its own readings',
    atMost: 0,
    run: seed => {
      const next = uniform(seed)
      const whole = autoregressive(hours, 0.9, seed)
      const half = whole.map(value => (next() < 0.5 ? value : Number.NaN))
      return Math.abs(pairOf(whole, half).lag_r ?? 0) >= 1.001
    },
  },
  {
    name: 'a lag of 0 with a correlation above 0.999, of a series with half of its own readings',
    atLeast: 1,
    run: seed => {
      const next = uniform(seed)
      const whole = autoregressive(hours, 0.9, seed)
      const half = whole.map(value => (next() < 0.5 ? value : Number.NaN))
      const { lag_seconds, lag_r } = pairOf(whole, half)
      return lag_seconds === 0 && (lag_r ?? 0) > 0.999
    },
  },
]
