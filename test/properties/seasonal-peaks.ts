/** Which cycles are found in noise. */

import { detrend } from '../../analytics/decomposition/detrend.ts'
import { createPeakSearch } from '../../analytics/spectrum/seasonal-peaks.ts'
import { sensorSteps } from '../../analytics/spectrum/significance.ts'
import { autoregressive, uniform, withLoss } from '../analytics/series.ts'
import type { Property } from './property.ts'
import { dailyHoles, dayAt } from './worlds.ts'

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

export const seasonalPeakProperties: readonly Property[] = [
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
