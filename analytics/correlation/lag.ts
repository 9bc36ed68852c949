/**
 * The significant lag of one series behind another.
 *
 * The lag is searched without the mean course of the day: otherwise unrelated series with a daily cycle would have the
 * lag between their highest hours.
 *
 * The tapered cross-correlation ranks the lags: untapered, the few pairs of a long lag would win too often. The
 * reported correlation is Pearson's of the raw values over the pairs of that lag, with their own means and spreads, so
 * that it stays within −1 … 1.
 *
 * A lag is significant when its p is at most 0.05 divided by the number of lags: the first step of Holm's test (1979),
 * applied to the largest of them. p comes from Student's t with the effective count of Bretherton et al. (1999), in
 * proportion to the lag's share of the pairs. Otherwise the largest of hundreds of lags of two unrelated series with
 * memory would look like a relation.
 */

import { crossSums, pairCounts, type SeriesTransform } from './block-spectra.ts'
import { correlationP, pairedCorrelation } from './correlation.ts'

const level = 0.05

export interface Lag {
  /** The unit is cells. Positive when y follows x. */
  readonly lag: number
  /** Pearson's correlation of the pairs at that lag. */
  readonly r: number
}

/** Two series on one grid. */
type Pair = readonly [Float64Array, Float64Array]

/**
 * `x` and `y`: the series in which the lag is searched; `nEffective`: their effective count at lag 0. `reported`: the
 * raw cells. Null without a significant lag.
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
  const atLag = correlationAt(...reported, lag).r
  return atLag === null ? null : { lag, r: atLag }
}

/**
 * The lag of the largest positive correlation of two series that are known to go together; null without a positive one.
 */
export function alignedLag(x: SeriesTransform, y: SeriesTransform): Lag | null {
  const crossed = crossCorrelation(x, y)
  const best = largestCrossCorrelation({ ...crossed, r: crossed.r.map(value => Math.max(0, value)) })
  if (best === null || best.r === 0) return null
  const { r } = correlationAt(x.values, y.values, best.lag)
  return r === null ? null : { lag: best.lag, r }
}

/** Correlation of the observed x_t and y_{t + lag}. */
export function correlationAt(x: Float64Array, y: Float64Array, lag: number): { r: number | null; pairs: number } {
  const length = x.length - Math.abs(lag)
  const [xFrom, yFrom] = [Math.max(0, -lag), Math.max(0, lag)]
  return pairedCorrelation(x.subarray(xFrom, xFrom + length), y.subarray(yFrom, yFrom + length))
}

/*
 * Cross-correlation of two series with gaps, and the lag at which it is largest.
 *
 * With means and population standard deviations over all observed cells of each series, N cells:
 *   r_xy(k) = [mean over observed pairs of (x_t − x̄)·(y_{t+k} − ȳ)] / (s_x·s_y) · (N − |k|)/N
 * k > 0 means that y follows x. On complete data r_xy(+k) is `ccf(y, x, adjusted=False)[k]` of statsmodels and
 * r_xy(−k) is `ccf(x, y, adjusted=False)[k]`.
 */

/** A lag with fewer pairs has no value. */
const pairsMin = 20
/** Differences of this size between two lags are rounding of the transform: the smaller lag is taken. */
const tieTolerance = 1e-12

interface CrossCorrelation {
  readonly lagMax: number
  /** r_xy(k) at index k + lagMax; NaN where fewer than 20 pairs were observed. */
  readonly r: Float64Array
  readonly pairs: Float64Array
}

/** Both transforms must come from series on one grid, with one `lagMax`. */
export function crossCorrelation(x: SeriesTransform, y: SeriesTransform): CrossCorrelation {
  const cells = x.values.length
  const { lagMax, block } = x
  if (cells !== y.values.length || lagMax !== y.lagMax) throw new RangeError('series have different grids')
  let pairs = x.mask.pairs.get(y.mask)
  if (pairs === undefined) {
    pairs = pairCounts(crossSums(x.mask.spectra, y.mask.spectra, block, lagMax))
    x.mask.pairs.set(y.mask, pairs)
  }
  const r = crossSums(x.spectra, y.spectra, block, lagMax)
  for (let place = 0; place < r.length; place++) {
    const count = pairs[place] as number
    const taper = (cells - Math.abs(place - lagMax)) / cells
    r[place] = count < pairsMin ? Number.NaN : ((r[place] as number) / count) * taper
  }
  return { lagMax, r, pairs }
}

/**
 * The lag in cells with the largest |r|; of equal ones the smallest |lag|, then the positive one; null without any r.
 */
export function largestCrossCorrelation({ lagMax, r }: CrossCorrelation): { lag: number; r: number } | null {
  let best: { lag: number; r: number } | null = null
  let sizeMin = -1
  for (let place = 0; place <= 2 * lagMax; place++) {
    // 0, 1, −1, 2, −2 and so on.
    const lag = place % 2 === 1 ? (place + 1) / 2 : 0 - place / 2
    const value = r[lag + lagMax] as number
    if (!(Math.abs(value) > sizeMin)) continue
    best = { lag, r: value }
    sizeMin = Math.abs(value) + tieTolerance
  }
  return best
}
