/**
 * Tests whether a series rises or falls, without a line: Theil–Sen's slope, the median of the slopes of all pairs, and
 * the test of Mann and Kendall, with the variance of Hamed and Rao (Journal of Hydrology 204 (1998) 182), which counts
 * the autocorrelation of the ranks without the slope. As proposed there, only the first three lags count, and only
 * where they exceed the 95 % bound. All lags together can leave less than no variance. `scipy.stats.theilslopes` and
 * `pymannkendall.hamed_rao_modification_test(values, lag=3)`.
 */

import { quantile } from 'simple-statistics'
import { midRanks } from '../correlation/ranks.ts'
import { normalQuantile975 } from '../correlation/student.ts'
import { erfc } from '../special-functions.ts'

const lagsMax = 3

export interface MannKendall {
  /** Theil–Sen, per unit of the times. */
  readonly slope: number
  /** Kendall's tau, −1 … 1. */
  readonly tau: number
  /** Null when the ranks' autocorrelation leaves no variance: it lasts too long for the test. */
  readonly z: number | null
  /** Two-sided. */
  readonly pValue: number | null
}

/**
 * Values at ascending times, at most a few hundred because of O(n²). Null with fewer than ten values, for which z is
 * not normal, and for equal values.
 */
export function mannKendall(times: Float64Array, values: Float64Array): MannKendall | null {
  const n = values.length
  if (n < 10) return null
  const { score, slopes } = pairsOf(times, values)
  const independent = scoreVariance(values)
  if (!(independent > 0)) return null
  const slope = quantile(slopes, 0.5)
  const tau = score / ((n * (n - 1)) / 2)
  const variance = independent * memoryFactor(values.map((value, i) => value - slope * (times[i] as number)))
  if (!(variance > 0)) return { slope, tau, z: null, pValue: null }
  const z = (score - Math.sign(score)) / Math.sqrt(variance)
  return { slope, tau, z, pValue: erfc(Math.abs(z) / Math.SQRT2) }
}

/** Compares every later value with every earlier one: the surplus of rises over falls, and the slopes. */
function pairsOf(times: Float64Array, values: Float64Array): { score: number; slopes: number[] } {
  let score = 0
  const slopes: number[] = []
  for (let later = 1; later < values.length; later++) {
    for (let earlier = 0; earlier < later; earlier++) {
      const rise = (values[later] as number) - (values[earlier] as number)
      score += Math.sign(rise)
      slopes.push(rise / ((times[later] as number) - (times[earlier] as number)))
    }
  }
  return { score, slopes }
}

/** Variance for independent values, reduced for ties. */
function scoreVariance(values: Float64Array): number {
  const term = (count: number) => count * (count - 1) * (2 * count + 5)
  const sorted = values.slice().sort()
  let ties = 0
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    while (to < sorted.length && sorted[to] === sorted[from]) to++
    ties += term(to - from)
  }
  return (term(values.length) - ties) / 18
}

/**
 * The factor by which the autocorrelation of the values' ranks multiplies the variance; 0 or less when it is undefined.
 */
function memoryFactor(values: Float64Array): number {
  const n = values.length
  const r = rankCorrelations(midRanks(values))
  const bound = normalQuantile975 / Math.sqrt(n)
  let sum = 0
  for (let lag = 1; lag <= lagsMax; lag++) {
    const value = r[lag] as number
    if (Math.abs(value) > bound) sum += (n - lag) * (n - lag - 1) * (n - lag - 2) * value
  }
  return 1 + (2 * sum) / (n * (n - 1) * (n - 2))
}

/** The biased estimator at the first lags, even for few pairs. */
function rankCorrelations(ranks: Float64Array): Float64Array {
  const mean = (ranks.length + 1) / 2
  const centred = ranks.map(rank => rank - mean)
  const products = new Float64Array(lagsMax + 1)
  for (let lag = 0; lag <= lagsMax; lag++) {
    for (let i = lag; i < centred.length; i++) {
      products[lag] = (products[lag] as number) + (centred[i] as number) * (centred[i - lag] as number)
    }
  }
  return products.map(product => product / (products[0] as number))
}
