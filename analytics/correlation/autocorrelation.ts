/**
 * Autocorrelation of a series with gaps.
 *
 * With mask m, deviations d = m·(x − mean of the observed), N cells and pair counts n_k = Σ m_t·m_{t+k}:
 *   r_k = [(Σ d_t·d_{t+k}) / n_k] / [(Σ d²) / n_0] · (N − k)/N
 * which on complete data is the usual biased estimator (Box & Jenkins; the default of R and statsmodels), and with gaps
 * `acf(adjusted=True, missing="conservative")` of statsmodels times (1 − k/N): Parzen's estimator with the usual taper. With
 * gaps the pairs of a lag may vary more than the series as a whole: what would be beyond ±1 is ±1.
 */

import { momentsOf, spreadOf } from '../summary/moments.ts'
import { ownSums, pairCounts, type SeriesTransform, seriesTransform } from './block-spectra.ts'

/** Below so many pairs a lag has no value. */
const pairsMin = 20

export interface Autocorrelation {
  /** Cells of the series, missing ones included. */
  readonly cells: number
  readonly observed: number
  /** r_k by lag in cells, from lag 0; NaN where fewer than 20 pairs were observed. */
  readonly r: Float64Array
  /** n_k by lag. */
  readonly pairs: Float64Array
}

/**
 * `values`: cells in order, NaN where missing. `lagMax`: the largest lag in cells, below the number of cells.
 * `transform`: that of the values, when there is one already. O(n log n) with a transform that reaches so far, and
 * O(n·lagMax/block) with a shorter one. Undefined when nothing was observed or the observed values do not vary.
 */
export function autocorrelation(
  values: Float64Array,
  lagMax: number,
  transform = seriesTransform(values, lagMax),
): Autocorrelation | undefined {
  if (transform === undefined) return undefined
  const { observed, spectra, block } = transform
  const cells = values.length
  const pairs = ownPairs(transform, lagMax)
  const r = ownSums(spectra, block, lagMax)
  // Deviations were divided by the standard deviation, so that (Σ d²)/n_0 is 1 but for rounding.
  const variance = (r[0] as number) / observed
  for (let lag = 0; lag <= lagMax; lag++) {
    const count = pairs[lag] as number
    const mean = (r[lag] as number) / count / variance
    r[lag] = count < pairsMin ? Number.NaN : withinOne((mean * (cells - lag)) / cells)
  }
  return { cells, observed, r, pairs }
}

function withinOne(r: number): number {
  return Math.max(-1, Math.min(1, r))
}

/** Without gaps they are known. */
function ownPairs({ values, observed, block, mask }: SeriesTransform, lagMax: number): Float64Array {
  if (observed === values.length) return Float64Array.from({ length: lagMax + 1 }, (_, lag) => values.length - lag)
  if (mask.ownPairs.length <= lagMax) mask.ownPairs = pairCounts(ownSums(mask.spectra, block, lagMax))
  return mask.ownPairs.subarray(0, lagMax + 1)
}

/**
 * r_1 by the same formula, whatever the number of pairs; NaN when no two neighbours were observed or nothing varies.
 */
export function lagOneAutocorrelation(values: Float64Array): number {
  const { mean, deviation, observed } = spreadOf(momentsOf(values))
  let sum = 0
  let pairs = 0
  for (let i = 1; i < values.length; i++) {
    const product = ((values[i - 1] as number) - mean) * ((values[i] as number) - mean)
    if (Number.isNaN(product)) continue
    sum += product
    pairs++
  }
  if (observed === 0 || pairs === 0 || deviation === 0) return Number.NaN
  return withinOne(((sum / pairs / (deviation * deviation)) * (values.length - 1)) / values.length)
}
