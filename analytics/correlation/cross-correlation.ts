/**
 * Cross-correlation of two series with gaps, and the lag at which it is largest.
 *
 * With means and population standard deviations over all observed cells of each series, N cells:
 *   r_xy(k) = [mean over observed pairs of (x_t − x̄)·(y_{t+k} − ȳ)] / (s_x·s_y) · (N − |k|)/N
 * k > 0 means that y follows x. On complete data r_xy(+k) is `ccf(y, x, adjusted=False)[k]` of statsmodels and
 * r_xy(−k) is `ccf(x, y, adjusted=False)[k]`.
 */

import { crossSums, pairCounts, type SeriesTransform } from './block-spectra.ts'

/** Below so many pairs a lag has no value. */
const pairsMin = 20
/** Differences of this size between two lags are rounding of the transform: the smaller lag is taken. */
const tieTolerance = 1e-12

export interface CrossCorrelation {
  readonly lagMax: number
  /** r_xy(k) at index k + lagMax; NaN where fewer than 20 pairs were observed. */
  readonly r: Float64Array
  readonly pairs: Float64Array
}

/** Both transforms must come from series on one grid, with one `lagMax`. */
export function crossCorrelation(x: SeriesTransform, y: SeriesTransform): CrossCorrelation {
  const cells = x.values.length
  const { lagMax, block } = x
  if (cells !== y.values.length || lagMax !== y.lagMax) throw new RangeError('the two series are not on one grid')
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
 * The lag in cells with the largest |r|, the smallest |lag| (then the positive one) of equal ones; null without any r.
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
