/**
 * How many of the pairs of two series with memory count as independent (Bretherton et al., Journal of Climate 12, 1999):
 * n_eff = n·(1 − a_x·a_y)/(1 + a_x·a_y), clipped to 2 … n, with the lag-1 autocorrelation a of each series on its own cells.
 *
 * An estimate of a from n values is too small by about (1 + 3a)/n (Marriott and Pope, Biometrika 41, 1954), which near 1 is
 * most of what is left to 1: at 0.99 and 720 hours n_eff would come out twice too large. That is put back.
 */

import { momentsOf } from '../summary/moments.ts'
import { lagOneAutocorrelation } from './autocorrelation.ts'

/** Beyond it a series is a random walk for all that so few values can tell. */
const memoryMax = 0.9999

/** A lag-1 autocorrelation and the number of observed cells that it was estimated from. */
export interface Memory {
  readonly a: number
  readonly n: number
}

/** NaN without two neighbours. */
export function memoryOf(values: Float64Array): Memory {
  return { a: lagOneAutocorrelation(values), n: momentsOf(values).count }
}

/** Without its bias; a negative one, which only shows that neighbours differ, and one of three values or fewer as it is. */
export function correctedMemory(a: number, n: number): number {
  if (!(a > 0) || n <= 3) return a
  return Math.min(memoryMax, (n * a + 1) / (n - 3))
}

/** n_eff of `n` pairs of series with these memories; null when one of them is not known. */
export function effectiveCount(n: number, x: Memory, y: Memory): number | null {
  const product = correctedMemory(x.a, x.n) * correctedMemory(y.a, y.n)
  if (Number.isNaN(product)) return null
  // With a product of −1 or less, which only rounding could give, every pair counts.
  if (product <= -1) return n
  return Math.min(n, Math.max(2, (n * (1 - product)) / (1 + product)))
}
