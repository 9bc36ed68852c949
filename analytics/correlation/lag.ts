/**
 * By how much one series follows another, when that is more than chance.
 *
 * The lag is sought without the mean course of the day: two series that have nothing in common but a day would follow each
 * other by as much as their highest hours are apart.
 *
 * The tapered cross-correlation ranks the lags: untapered, the few pairs of a long lag would win too often. The
 * correlation that is reported is Pearson's of the values as they are over the pairs of that lag, with their own means and
 * spreads, so that it never leaves −1 … 1.
 *
 * A lag is significant when its p is at most 0.05 divided by the number of lags: the first step of Holm's test (1979),
 * which looks at the largest of them. p is that of Student's t with the effective count of Bretherton et al. (1999), in
 * proportion to the lag's share of the pairs. Without this the largest of hundreds of lags of two unrelated series with
 * memory looks like a relation.
 */

import type { SeriesTransform } from './block-spectra.ts'
import { correlationP, pairedCorrelation } from './correlation.ts'
import { crossCorrelation, largestCrossCorrelation } from './cross-correlation.ts'

const level = 0.05

export interface Lag {
  /** In cells; positive when y follows x. */
  readonly lag: number
  /** Pearson's correlation of the pairs at that lag. */
  readonly r: number
}

/** Two series on one grid. */
type Pair = readonly [Float64Array, Float64Array]

/**
 * `x` and `y`: of what the lag is sought in; `nEffective`: of these at lag 0. `reported`: the cells as they are. Null when no
 * lag is significant.
 */
export function significantLag(
  x: SeriesTransform,
  y: SeriesTransform,
  nEffective: number | null,
  reported: Pair = [x.values, y.values],
): Lag | null {
  const crossed = crossCorrelation(x, y)
  const best = largestCrossCorrelation(crossed)
  if (best === null || nEffective === null) return null
  const { lag } = best
  const { r, pairs } = correlationAt(x.values, y.values, lag)
  const lags = crossed.r.reduce((count, value) => (Number.isNaN(value) ? count : count + 1), 0)
  const share = Math.min(1, pairs / (crossed.pairs[crossed.lagMax] as number))
  const p = correlationP(r, nEffective * share)
  if (p === null || p * lags > level) return null
  const told = correlationAt(...reported, lag).r
  return told === null ? null : { lag, r: told }
}

/** The lag of the largest positive correlation of two series that are known to go together; null where none is positive. */
export function alignedLag(x: SeriesTransform, y: SeriesTransform): Lag | null {
  const crossed = crossCorrelation(x, y)
  const best = largestCrossCorrelation({ ...crossed, r: crossed.r.map(value => Math.max(0, value)) })
  if (best === null || best.r === 0) return null
  const { r } = correlationAt(x.values, y.values, best.lag)
  return r === null ? null : { lag: best.lag, r }
}

/** Of the observed x_t and y_{t + lag}. */
export function correlationAt(x: Float64Array, y: Float64Array, lag: number): { r: number | null; pairs: number } {
  const length = x.length - Math.abs(lag)
  const [xFrom, yFrom] = [Math.max(0, -lag), Math.max(0, lag)]
  return pairedCorrelation(x.subarray(xFrom, xFrom + length), y.subarray(yFrom, yFrom + length))
}
