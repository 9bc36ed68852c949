/**
 * The usual size of differences between a sensor's readings. The limits of the WMO apply to readings a minute apart on
 * flat land; on a clear morning far from the sea the temperature of a good station rises faster than 4 °C an hour.
 *
 * The 99.9 % quantile is extrapolated from the 50 and 90 % quantiles with an exponential tail. Unlike the quantile
 * itself, it is not moved by wild readings while they are less than a tenth.
 */

import { quantilesInPlace } from '../summary/quantile.ts'

/** Fewer do not show the usual size. */
const countMin = 100

/** Takes sizes without NaN and changes their order; 0 with fewer than a hundred. */
export function usualSize(sizes: Float64Array): number {
  if (sizes.length < countMin) return 0
  const [q50, q90] = quantilesInPlace(sizes, [0.5, 0.9]) as [number, number]
  return q90 + (2 * (q90 - q50)) / Math.log10(5)
}
