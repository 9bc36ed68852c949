/** Tests of one series that follows another. */

import { autoregressive, uniform } from '../analytics/series.ts'
import { dayMs, hourMs, minuteMs } from '../query/stats/stats-of.ts'
import type { Property } from './property.ts'
import { dayAt, statsOf } from './worlds.ts'

const hours = 720
/** The pair of two series. */
function pairOf(
  a: Float64Array,
  b: Float64Array,
  stepMs?: number,
): { lag_seconds: number | null; lag_r: number | null } {
  return statsOf(a, b, stepMs).correlations.pairs[0]
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
  const [first, later] = [
    x.map((value, cell) => value + day(cell, 0)),
    y.map((value, cell) => value + day(cell, shiftHours)),
  ]
  return pairOf(first, later, stepMs).lag_seconds
}

/** A series and half of its own readings. */
function withItsHalf(seed: number) {
  const next = uniform(seed)
  const whole = autoregressive(hours, 0.9, seed)
  const half = whole.map(value => (next() < 0.5 ? value : Number.NaN))
  return pairOf(whole, half)
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
      const withDay = (values: Float64Array) => values.map((value, hour) => value + 4 * dayAt(hour))
      return pairOf(withDay(source.slice(3)), withDay(source.slice(0, hours))).lag_seconds === 3 * 3600
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
    run: seed => Math.abs(withItsHalf(seed).lag_r ?? 0) >= 1.001,
  },
  {
    name: 'a lag of 0 with a correlation above 0.999, of a series with half of its own readings',
    atLeast: 1,
    run: seed => {
      const { lag_seconds, lag_r } = withItsHalf(seed)
      return lag_seconds === 0 && (lag_r ?? 0) > 0.999
    },
  },
]
