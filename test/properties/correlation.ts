/** What is said of two series that have nothing to do with each other. */

import { autoregressive } from '../analytics/series.ts'
import { ask, every, hourMs, seriesOf } from '../query/stats/stats-of.ts'
import type { Property } from './property.ts'

const startMs = Date.UTC(2025, 5, 1)

/** The verdict of independent AR(1) series. */
function significantOf(hours: number, phi: number, seed: number): boolean | null {
  const [x, y] = [autoregressive(hours, phi, 2 * seed), autoregressive(hours, phi, 7919 * seed + 1)]
  const series = seriesOf(every(hourMs, startMs, hours), {
    temperature: (_, hour) => x[hour] as number,
    pressure: (_, hour) => y[hour] as number,
  })
  return ask({ series }).correlations.pairs[1].significant
}

export const correlationProperties: readonly Property[] = [
  ...[0.5, 0.9, 0.95, 0.99].map(phi => ({
    name: `a significant correlation between independent AR(1) ${phi} series of 30 days`,
    atMost: 0.05,
    run: (seed: number) => significantOf(720, phi, seed) === true,
  })),
  {
    name: 'a verdict of two random walks of a day',
    atMost: 0,
    run: seed => significantOf(24, 1, seed) !== null,
  },
]
