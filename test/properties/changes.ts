/** The rates of false changes of level, and of steps that are found. */

import { type ChangePoint, changePoints, dailyLevels } from '../../analytics/changes/change-points.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { autoregressive, uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'
import { dayAt } from './worlds.ts'

const days = 100
const hours = 24 * days
const localHours = Uint8Array.from({ length: hours }, (_, hour) => hour % 24)
/** A series that has begun long before. */
const warmUp = 1000
/** A run is cheap, and a share within 0.02 takes many. */
const seriesOfRun = 5

function noise(phi: number, seed: number): Float64Array {
  return autoregressive(warmUp + hours, phi, seed).slice(warmUp)
}

function changesOf(hourly: Float64Array): ChangePoint[] {
  return changePoints(dailyLevels(hourly, localHours))
}

function shareOf(seed: number, holds: (seed: number) => boolean): number {
  const seeds = Array.from({ length: seriesOfRun }, (_, one) => 7919 * (seriesOfRun * seed + one))
  return seeds.filter(holds).length / seriesOfRun
}

export const changeProperties: readonly Property[] = [
  ...[0, 0.5, 0.9, 0.95, 0.98].map(phi => ({
    name: `a change of level in 100 days of AR(1) ${phi}`,
    atMost: 0.02,
    run: (seed: number) => shareOf(seed, one => changesOf(noise(phi, one)).length > 0),
  })),
  {
    name: 'a change of level in 100 days of AR(1) 0.9 with a day and a third of the hours missing',
    atMost: 0.02,
    run: seed =>
      shareOf(seed, one => {
        const next = uniform(one)
        const series = noise(0.9, one).map((value, hour) => (next() < 1 / 3 ? Number.NaN : value + 5 * dayAt(hour)))
        return changesOf(series).length > 0
      }),
  },
  {
    name: 'a step of 1.5 standard deviations found within three days, in 100 days of AR(1) 0.9',
    atLeast: 0.9,
    run: seed =>
      shareOf(seed, one => {
        const step = 1.5 / Math.sqrt(1 - 0.9 ** 2)
        const at = 30 + Math.floor(40 * uniform(one)())
        const series = noise(0.9, one).map((value, hour) => value + (hour >= 24 * at ? step : 0))
        return changesOf(series).some(({ day }) => Math.abs(day - at) <= 3)
      }),
  },
  ...[0.5, 0.9].map(phi => ({
    name: `a change of level in 100 days of AR(1) ${phi} with ten wild hours`,
    atMost: 0.02,
    run: (seed: number) =>
      shareOf(seed, one => {
        const next = uniform(one)
        const series = noise(phi, one)
        for (let wild = 0; wild < 10; wild++) series[Math.floor(next() * hours)] = 200 * (next() - 0.2)
        return changesOf(series).length > 0
      }),
  })),
  {
    name: 'a ramp of 0.2 deviations of the daily levels a day over the last 30 of 100 days named a ramp, in AR(1) 0.5',
    atLeast: 0.9,
    run: seed =>
      shareOf(seed, one => {
        const series = noise(0.5, one)
        const { std } = momentsOf(dailyLevels(series, localHours).means)
        const rises = series.map((value, hour) => value + (0.2 * std * Math.max(0, hour - 24 * 70)) / 24)
        return changesOf(rises).at(-1)?.perDay != null
      }),
  },
  {
    name: 'a step of three deviations of the daily levels named a ramp, in 100 days of AR(1) 0.5',
    atMost: 0.05,
    run: seed =>
      shareOf(seed, one => {
        const series = noise(0.5, one)
        const { std } = momentsOf(dailyLevels(series, localHours).means)
        const step = series.map((value, hour) => value + (hour >= 24 * 60 ? 3 * std : 0))
        return changesOf(step).some(({ perDay }) => perDay !== null)
      }),
  },
  {
    name: 'a level of 3 standard deviations more that comes back after 20 days, both within three days, in 100 days of AR(1) 0.9',
    atLeast: 0.9,
    run: seed =>
      shareOf(seed, one => {
        const rise = 3 / Math.sqrt(1 - 0.9 ** 2)
        const at = 30 + Math.floor(30 * uniform(one)())
        const isUp = (hour: number) => hour >= 24 * at && hour < 24 * (at + 20)
        const found = changesOf(noise(0.9, one).map((value, hour) => value + (isUp(hour) ? rise : 0)))
        return [at, at + 20].every(wanted => found.some(({ day }) => Math.abs(day - wanted) <= 3))
      }),
  },
]
