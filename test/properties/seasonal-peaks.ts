/** The cycles that are found in noise. */

import { detrend } from '../../analytics/decomposition/detrend.ts'
import { dayTest } from '../../analytics/spectrum/day-test.ts'
import { createPeakSearch } from '../../analytics/spectrum/seasonal-peaks.ts'
import { sensorSteps } from '../../analytics/spectrum/significance.ts'
import { autoregressive, uniform, withLoss } from '../analytics/series.ts'
import { type Answer, ask, dayMs, every, hourMs, seriesOf } from '../query/stats/stats-of.ts'
import type { Property } from './property.ts'
import { dailyHoles, dayAt, statsOf } from './worlds.ts'

const kinds = [
  { noise: 'white noise', phi: 0 },
  { noise: 'AR(1) 0.9', phi: 0.9 },
  { noise: 'a random walk', phi: 1 },
]

function hasCycle(values: Float64Array, periodHours?: number, quantum = 0): boolean {
  const { slopePerCell, residual } = detrend(values)
  const steps = sensorSteps(quantum, slopePerCell, values.length)
  const { peaks } = createPeakSearch(values.length, 24)(residual, steps)
  return peaks.some(({ significant, frequency }) => {
    return significant && (periodHours === undefined || Math.abs(1 / frequency - periodHours) < 0.5)
  })
}

const holeMemories = [0.9, 0.98, 0.995, 1]

function noiseName(phi: number): string {
  return phi === 1 ? 'a random walk' : `AR(1) ${phi}`
}

/** Ten steps of the sensor from the least to the largest value. */
function inTenSteps(curve: (share: number) => number, seed: number): Float64Array {
  const next = uniform(seed)
  const [shift, stretch] = [next(), 0.8 + 0.4 * next()]
  return Float64Array.from({ length: 720 }, (_, hour) => Math.round(10 * stretch * curve(hour / 720) + shift))
}

const localHours = Uint8Array.from({ length: 720 }, (_, hour) => hour % 24)
const isDaily = (values: Float64Array) => dayTest(values, localHours.subarray(0, values.length))?.isDaily ?? false

/** CO2 of a smooth day as a device reads it whose clock is off, or jitters. */
function smoothDay(stepMs: number, jitterMs: number, seed: number): Answer {
  const next = uniform(seed)
  const place = next()
  const times = every(stepMs, Date.UTC(2025, 5, 1) + 60_000 * next(), Math.floor((14 * dayMs) / stepMs))
  const jittered = times.map(timeMs => Math.round(timeMs + jitterMs * (2 * next() - 1)))
  const temperature = (timeMs: number) => 20 + 5 * Math.sin(2 * Math.PI * (timeMs / dayMs + place))
  return ask({ series: seriesOf(jittered, { temperature }) }).seasonality.temperature
}

const isFalse = ({ significant, period_hours }: { significant: boolean; period_hours: number }) =>
  significant && Math.abs(24 / period_hours - Math.round(24 / period_hours)) > 0.02

export const seasonalPeakProperties: readonly Property[] = [
  ...[59_000, 61_000, 62_500].flatMap(stepMs =>
    [0, 1500].map(jitterMs => ({
      name: `a false cycle of a smooth day, or no daily one, read every ${stepMs / 1000} s with ${jitterMs / 1000} s of jitter`,
      atMost: 0,
      run: (seed: number) => {
        const { peaks } = smoothDay(stepMs, jitterMs, seed)
        return peaks.some(isFalse) || !peaks.some((one: { significant: boolean }) => one.significant)
      },
    })),
  ),
  ...[0, 0.9, 0.95, 0.995, 1].flatMap(phi =>
    [0, 3].map(hours => ({
      name: `a day by the signs of ${phi === 0 ? 'white noise' : noiseName(phi)}${hours === 0 ? '' : `, without ${hours} h of every night`}`,
      atMost: 0.03,
      run: (seed: number) => isDaily(dailyHoles(autoregressive(720, phi, 7919 * seed), 22, hours)),
    })),
  ),
  ...[0, 0.9].map(phi => ({
    name: `a day by the signs of six days of ${phi === 0 ? 'white noise' : noiseName(phi)}`,
    atMost: 0.03,
    run: (seed: number) => isDaily(autoregressive(145, phi, 7919 * seed)),
  })),
  {
    name: 'a daily cycle of one deviation of the AR(1) 0.9 it is in found by the signs of eleven days',
    atLeast: 0.95,
    run: seed => {
      const noise = autoregressive(264, 0.9, 7919 * seed)
      return isDaily(noise.map((value, hour) => value + dayAt(hour - seed) / Math.sqrt(1 - 0.9 ** 2)))
    },
  },
  {
    name: 'a day of twice the deviation of its white noise found at steps of 2 h',
    atLeast: 0.95,
    run: seed => {
      const noise = autoregressive(360, 0, 7919 * seed)
      const values = noise.map((value, place) => value + 2 * dayAt(2 * place))
      const { seasonality, autocorrelation } = statsOf(values, undefined, 2 * hourMs)
      const hasDay = seasonality.temperature.peaks.some((one: { significant: boolean; period_hours: number }) => {
        return one.significant && Math.abs(one.period_hours - 24) < 0.2
      })
      return hasDay && seasonality.temperature.strength.reason === null && autocorrelation.temperature.status === 'ok'
    },
  },
  ...kinds.flatMap(({ noise, phi }) =>
    [0, 0.4].map(loss => ({
      name: `a significant cycle in 30 days of ${noise}${loss === 0 ? '' : ' with 40 % of the hours lost'}`,
      atMost: 0.05,
      run: (seed: number) => hasCycle(withLoss(autoregressive(720, phi, 7919 * seed), loss, seed)),
    })),
  ),
  ...holeMemories.flatMap(phi =>
    [1, 2, 4, 8].map(hours => ({
      name: `a significant cycle in 30 days of ${noiseName(phi)} without ${hours} h of every night`,
      atMost: 0.05,
      run: (seed: number) => hasCycle(dailyHoles(autoregressive(720, phi, 7919 * seed), 22, hours)),
    })),
  ),
  {
    name: 'a daily cycle of twice the deviation of its AR(1) 0.9 found, without 8 h of every night',
    atLeast: 0.9,
    run: seed => {
      const amplitude = 2 / Math.sqrt(1 - 0.9 ** 2)
      const noise = autoregressive(720, 0.9, 7919 * seed)
      const values = noise.map((value, hour) => value + amplitude * dayAt(hour - seed))
      return hasCycle(dailyHoles(values, 22, 8), 24)
    },
  },
  {
    name: 'a tide of 12 h and less than half a step of the sensor found, in 30 days of slow pressure',
    atLeast: 0.9,
    run: seed => {
      const slow = autoregressive(720, 0.995, 7919 * seed)
      const tide = (hour: number) => 0.45 * Math.sin((2 * Math.PI * (hour - seed)) / 12)
      const shown = slow.map((value, hour) => Math.round(0.3 * value + tide(hour)))
      return hasCycle(shown, 12, 1)
    },
  },
  {
    name: 'a significant cycle in 30 days of a charge that falls by a step of the sensor a day, more or less',
    atMost: 0.05,
    run: seed => {
      const next = uniform(seed)
      const [perDay, shift] = [0.9 + 0.2 * next(), next()]
      const noise = autoregressive(720, 0.5, 7919 * seed)
      const shown = noise.map((value, hour) => Math.round(90 + shift - (perDay * hour) / 24 + 0.02 * value))
      return hasCycle(shown, undefined, 1)
    },
  },
  ...[
    { name: 'a parabola', curve: (share: number) => share * share },
    { name: 'two thirds of a sine', curve: (share: number) => Math.sin((4 * Math.PI * share) / 3) / 2 },
  ].map(({ name, curve }) => ({
    name: `a significant cycle in 30 days of ${name} shown in ten steps of the sensor`,
    atMost: 0.05,
    run: (seed: number) => hasCycle(inTenSteps(curve, seed), undefined, 1),
  })),
]
