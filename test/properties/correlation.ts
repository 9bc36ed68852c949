/** Verdicts on two unrelated series. */

import { autoregressive } from '../analytics/series.ts'
import type { Property } from './property.ts'
import { statsOf } from './worlds.ts'

/** The verdict of independent AR(1) series. */
function significantOf(hours: number, phi: number, seed: number): boolean | null {
  const [x, y] = [autoregressive(hours, phi, 2 * seed), autoregressive(hours, phi, 7919 * seed + 1)]
  return statsOf(x, y).correlations.pairs[0].significant
}

export const correlationProperties: readonly Property[] = [
  ...[0.5, 0.9, 0.95, 0.99].map(phi => ({
    name: `a significant correlation between independent AR(1) ${phi} series of 30 days`,
    atMost: 0.05,
    run: (seed: number) => significantOf(720, phi, seed) === true,
  })),
  { name: 'a verdict of two random walks of a day', atMost: 0, run: seed => significantOf(24, 1, seed) !== null },
]
