/**
 * The number of independent pairs of two series with memory (Bretherton et al., Journal of Climate 12, 1999): n_eff =
 * n·(1 − a_x·a_y)/(1 + a_x·a_y), clipped to 2 … n, with the lag-1 autocorrelation a of each series on its own cells.
 *
 * An estimate of a from n values is too small by about (1 + 3a)/n (Marriott and Pope, Biometrika 41, 1954), which near
 * 1 is most of the distance to 1: at 0.99 and 720 hours n_eff would be twice too large. The bias is corrected.
 */

import { momentsOf } from '../summary/moments.ts'
import { lagOneAutocorrelation } from './autocorrelation.ts'

/** Beyond it a short series cannot be distinguished from a random walk. */
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

/**
 * Corrects the bias, except for a negative value, which only shows that neighbours differ, and for three values or
 * fewer.
 */
export function correctedMemory(a: number, n: number): number {
  if (!(a > 0) || n <= 3) return a
  return Math.min(memoryMax, (n * a + 1) / (n - 3))
}

/** n_eff of `n` pairs of series with these memories; null when one of them is unknown. */
export function effectiveCount(n: number, x: Memory, y: Memory): number | null {
  const product = correctedMemory(x.a, x.n) * correctedMemory(y.a, y.n)
  if (Number.isNaN(product)) return null
  // A product of −1 or less can only come from rounding; every pair counts.
  if (product <= -1) return n
  return Math.min(n, Math.max(2, (n * (1 - product)) / (1 + product)))
}
