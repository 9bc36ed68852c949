/** Tests of the peak of an autocorrelation. */

import { autocorrelation } from '../../analytics/correlation/autocorrelation.ts'
import { autoregressive, withLoss } from '../analytics/series.ts'
import { hourMs, minuteMs } from '../query/stats/stats-of.ts'
import type { Property } from './property.ts'
import { dayAt, redWeather, statsOf } from './worlds.ts'

const hours = 720

const noises = [
  { noise: 'white noise', phi: 0 },
  { noise: 'AR(1) 0.9', phi: 0.9 },
]
const steps = [
  { stepMs: hourMs, cells: hours },
  { stepMs: 5 * minuteMs, cells: 12 * hours },
]

export const autocorrelationProperties: readonly Property[] = [
  ...noises.flatMap(({ noise, phi }) =>
    steps.map(({ stepMs, cells }) => ({
      name: `a peak of the autocorrelation of 30 days of ${noise} every ${stepMs / 1000} s`,
      atMost: 0.05,
      run: (seed: number) => {
        const found = statsOf(autoregressive(cells, phi, 7919 * seed), undefined, stepMs)
        return found.autocorrelation.temperature.peak !== null
      },
    })),
  ),
  {
    name: 'the peak at exactly 24 h, of a daily cycle as strong as the AR(1) 0.9 it is in, where that cycle is significant',
    atLeast: 1,
    run: seed => {
      const noise = autoregressive(hours, 0.9, seed)
      const answer = statsOf(noise.map((value, hour) => value + 3.2 * dayAt(hour)))
      const { peaks } = answer.seasonality.temperature
      const hasDay = peaks.some(
        (peak: { significant: boolean; cycles: number }) => peak.significant && Math.abs(peak.cycles - 30) <= 0.5,
      )
      const { peak } = answer.autocorrelation.temperature
      return !hasDay || peak === null || Math.abs(peak.lag_hours - 24) < 0.01
    },
  },
  {
    name: 'an autocorrelation beyond ±1 of a random walk of which one value in ten is there',
    atMost: 0,
    run: seed => {
      const values = withLoss(autoregressive(hours, 1, seed), 0.9, 31 * seed)
      return autocorrelation(values, 168)?.r.some(r => Math.abs(r) > 1 + 1e-9) ?? false
    },
  },
  // The rest is the error of a correlation of some 43 pairs, which is smaller where r is near 1.
  ...[
    { phi: 0.9, atMost: 0.13 },
    { phi: 0.99, atMost: 0.04 },
  ].map(({ phi, atMost }) => ({
    name: `the mean error of the autocorrelation of AR(1) ${phi} within a day, where one value in ten is there`,
    atMost,
    run: (seed: number) => {
      const whole = autoregressive(6 * hours, phi, seed)
      const [all, some] = [whole, withLoss(whole, 0.9, 31 * seed)].map(values => autocorrelation(values, 24)?.r)
      const errors = Array.from(some ?? [], (r, lag) => Math.abs(r - (all?.[lag] as number)))
      const known = errors.filter(error => !Number.isNaN(error))
      return known.reduce((sum, error) => sum + error, 0) / known.length
    },
  })),
  {
    name: 'the peak at 24 h of a significant daily cycle in ten days of slow weather, whatever the band',
    atLeast: 0.98,
    run: seed => {
      const answer = statsOf(redWeather(240, seed).map((value, hour) => 4 * dayAt(hour) + value))
      const { peaks } = answer.seasonality.temperature
      const hasDay = peaks.some((one: { significant: boolean; cycles: number }) => {
        return one.significant && Math.abs(one.cycles - 10) <= 0.5
      })
      return !hasDay || answer.autocorrelation.temperature.peak?.lag_hours === 24
    },
  },
  {
    name: 'the peak at 24 h, of a daily cycle on a level that wanders for days',
    atLeast: 0.95,
    run: seed => {
      const values = autoregressive(hours, 0.995, seed).map((level, hour) => 5 * dayAt(hour) + 0.42 * level)
      const { peak } = statsOf(values).autocorrelation.temperature
      return peak !== null && Math.abs(peak.lag_hours - 24) <= 1
    },
  },
]
