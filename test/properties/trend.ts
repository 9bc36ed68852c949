/** Verdicts on a slope in noise with memory. */

import { dayMeans } from '../../analytics/decomposition/deseasonalise.ts'
import { detrend } from '../../analytics/decomposition/detrend.ts'
import { type Trend, trendOf } from '../../analytics/decomposition/trend.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { autoregressive, uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'
import { redWeather } from './worlds.ts'

const hours = 720
/** A run is cheap, and a share within 0.02 takes many. */
const seriesOfRun = 5

function trendIn(hourly: Float64Array, hasDay = false): Trend {
  const localHours = Uint8Array.from(hourly, (_, hour) => hour % 24)
  return trendOf({ hourly, localHours, slopePerDay: 24 * detrend(hourly).slopePerCell, hasDay })
}

const daysWithCycle = [7, 14, 30]
const slopeBesideDay = 0.05

/** A wave of any phase, which biases the straight line through all values. */
function dayAndSlope(length: number, seed: number): Trend {
  const begin = uniform(104729 * seed)()
  const hourly = autoregressive(length, 0.8, 7919 * seed).map((noise, hour) => {
    return 0.6 * noise + 10 * Math.sin(2 * Math.PI * (hour / 24 + begin)) + (slopeBesideDay * hour) / 24
  })
  return trendIn(hourly, true)
}

/** A few series suffice, as a run is cheap. */
function shareOf(seed: number, shows: (seed: number) => boolean): number {
  const seeds = Array.from({ length: seriesOfRun }, (_, one) => seriesOfRun * seed + one)
  return seeds.filter(shows).length / seriesOfRun
}

const trendOfNoise = (phi: number, seed: number) => trendIn(autoregressive(hours, phi, 7919 * seed))
const isClaimed = ({ direction }: Trend) => direction === 'rising' || direction === 'falling'
const holds = ({ slopeInterval }: Trend, slope: number) =>
  slopeInterval !== null && slope >= slopeInterval[0] && slope <= slopeInterval[1]

const memories = [0.5, 0.7, 0.8, 0.9, 0.95]

export const trendProperties: readonly Property[] = [
  ...memories.map(phi => ({
    name: `the true slope within the 95 % interval, on AR(1) ${phi} of 30 days`,
    atLeast: 0.93,
    atMost: 0.97,
    run: (seed: number) => shareOf(seed, one => holds(trendOfNoise(phi, one), 0)),
  })),
  ...daysWithCycle.map(days => ({
    name: `the true slope within the 95 % interval, on a day of ten deviations and AR(1) 0.8 of ${days} days`,
    atLeast: 0.92,
    atMost: 0.985,
    run: (seed: number) => shareOf(seed, one => holds(dayAndSlope(24 * days, one), slopeBesideDay)),
  })),
  ...memories.map(phi => ({
    name: `a trend claimed on AR(1) ${phi} of 30 days`,
    atMost: 0.05,
    run: (seed: number) => shareOf(seed, one => isClaimed(trendOfNoise(phi, one))),
  })),
  {
    name: 'a trend claimed on a random walk of 30 days',
    atMost: 0.1,
    run: seed => shareOf(seed, one => isClaimed(trendOfNoise(1, one))),
  },
  {
    name: 'a trend claimed on 30 days of weather, AR(1) 0.9 and 1.5 times AR(1) 0.995',
    atMost: 0.1,
    run: seed => isClaimed(trendIn(redWeather(hours, 7919 * seed))),
  },
  {
    name: 'a trend claimed where 30 days rise by three deviations of their AR(1) 0.9',
    atLeast: 0.4,
    run: seed => {
      const rise = 3 / Math.sqrt(1 - 0.9 ** 2)
      const noise = autoregressive(hours, 0.9, 7919 * seed)
      return trendIn(noise.map((value, hour) => value + (rise * hour) / hours)).direction === 'rising'
    },
  },
  {
    name: 'a trend claimed where 30 days rise by ten times the deviation of their means, on AR(1) 0.9',
    atLeast: 0.9,
    run: seed => {
      const noise = autoregressive(hours, 0.9, 7919 * seed)
      const deviation = momentsOf(dayMeans(noise).means).std
      return trendIn(noise.map((value, hour) => value + (10 * deviation * hour) / hours)).direction === 'rising'
    },
  },
]
