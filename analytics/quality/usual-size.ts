/**
 * How large the differences between a sensor's readings usually are. The limits of the WMO are for readings a minute
 * apart on flat land; on a clear morning far from the sea the temperature of a good station rises faster than 4 °C an hour.
 *
 * The 99.9 % quantile is extrapolated from the 50 and 90 % quantiles with an exponential tail: wild readings, while they
 * are less than a tenth, do not move it, as they would the quantile itself.
 */

import { quantilesInPlace } from '../summary/quantile.ts'

/** Fewer say nothing of what is usual. */
const countMin = 100

/** Of sizes without NaN, whose order is lost; 0 with fewer than a hundred. */
export function usualSize(sizes: Float64Array): number {
  if (sizes.length < countMin) return 0
  const [q50, q90] = quantilesInPlace(sizes, [0.5, 0.9]) as [number, number]
  return q90 + (2 * (q90 - q50)) / Math.log10(5)
}
