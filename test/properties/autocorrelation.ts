/** Where an autocorrelation has its peak. */

import { autocorrelation } from '../../analytics/correlation/autocorrelation.ts'
import { autoregressive, withLoss } from '../analytics/series.ts'
import { ask, every, hourMs, minuteMs, seriesOf } from '../query/stats/stats-of.ts'
import type { Property } from './property.ts'

const hours = 720
const startMs = Date.UTC(2025, 5, 1)

/** The peak of a temperature in cells of this length. */
function peakOf(values: Float64Array, stepMs: number): { lag_hours: number; r: number } | null {
  const series = seriesOf(every(stepMs, startMs, values.length), { temperature: (_, cell) => values[cell] as number })
  return ask({ series }).autocorrelation.temperature.peak
}

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
      run: (seed: number) => peakOf(autoregressive(cells, phi, 7919 * seed), stepMs) !== null,
    })),
  ),
  {
    name: 'the peak at exactly 24 h, of a daily cycle as strong as the AR(1) 0.9 it is in, where that cycle is significant',
    atLeast: 1,
    run: seed => {
      const noise = autoregressive(hours, 0.9, seed)
      const values = noise.map((value, hour) => value + 3.2 * Math.sin((2 * Math.PI * hour) / 24))
      const series = seriesOf(every(hourMs, startMs, hours), { temperature: (_, hour) => values[hour] as number })
      const answer = ask({ series })
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
      return autocorrelation(values, 168)?.r.some(r => Math.abs(r) > 1) ?? false
    },
  },
  {
    name: 'the peak at 24 h, of a daily cycle on a level that wanders for days',
    atLeast: 0.95,
    run: seed => {
      const level = autoregressive(hours, 0.995, seed)
      const series = seriesOf(every(hourMs, startMs, hours), {
        temperature: (_, hour) => 5 * Math.sin((2 * Math.PI * hour) / 24) + 0.42 * (level[hour] as number),
      })
      const { peak } = ask({ series }).autocorrelation.temperature
      return peak !== null && Math.abs(peak.lag_hours - 24) <= 1
    },
  },
]
