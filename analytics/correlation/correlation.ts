/**
 * Pearson's and Spearman's correlation of two series of cells, with p-values for series that have memory.
 *
 * With n_eff independent pairs, t = r·√((n_eff − 2)/(1 − r²)) has n_eff − 2 degrees of freedom; the 95 % interval is
 * tanh(atanh r ± 1.959963984540054/√(n_eff − 3)) (Fisher). With n_eff = n that is `scipy.stats.pearsonr`. Both
 * are missing below five pairs, which cannot be distinguished from chance.
 */

import { hourOfDayRemoved } from '../decomposition/deseasonalise.ts'
import { isConstant, isRounding, momentsOf } from '../summary/moments.ts'
import { effectiveCount, type Memory, memoryOf } from './autocorrelation.ts'
import { centredProducts } from './centred-products.ts'
import { midRanks } from './ranks.ts'
import { normalQuantile975, studentTwoSidedP } from './student.ts'

/** Fewer pairs have no correlation. */
const pairsMin = 10
/** Fewer hours have no verdict: the same number as for a correlation without the hours of the day. */
const verdictHoursMin = 33
/** Fewer independent pairs have no verdict. */
const independentMin = 5

export interface CorrelationSeries {
  /** Cells in order, NaN where missing. */
  readonly values: Float64Array
  /** Memory of all its cells, NaN without one. */
  readonly memory: Memory
  /** Mid-ranks of the observed values in order; valid for every pair that includes all of them. */
  readonly ranks: Float64Array
}

/**
 * Null stands for missing figures. `reason` explains a missing correlation, or, with `too_few_independent`, missing
 * p-values and intervals.
 */
export interface Correlation {
  readonly n: number
  readonly nEffective: number | null
  readonly pearson: number | null
  readonly pValue: number | null
  readonly ci95: readonly [number, number] | null
  readonly spearman: number | null
  readonly spearmanPValue: number | null
  /** Pearson's correlation without each series' mean of the local hour of day; null with fewer than 33 hours. */
  readonly deseasonalised: number | null
  readonly reason: 'insufficient_data' | 'constant' | 'too_few_independent' | null
}

export function correlationSeries(values: Float64Array): CorrelationSeries {
  return { values, memory: memoryOf(values), ranks: midRanks(values.filter(value => !Number.isNaN(value))) }
}

/**
 * Only cells with both values count. `localHours`: 0 … 23 for each cell. Without them the day has a single hour, and
 * `deseasonalised` is Pearson's.
 */
export function correlation(
  x: CorrelationSeries,
  y: CorrelationSeries,
  localHours: Uint8Array = new Uint8Array(x.values.length),
): Correlation {
  const pairs = completePairs(x.values, y.values, localHours)
  const n = pairs.x.length
  if (n < pairsMin) return none(n, 'insufficient_data')
  const xMoments = momentsOf(pairs.x)
  const yMoments = momentsOf(pairs.y)
  if (isConstant(xMoments) || isConstant(yMoments)) return none(n, 'constant')
  const pearson = pearsonCorrelation(pairs.x, pairs.y)
  const nEffective = effectiveCount(n, x.memory, y.memory)
  // A day of cells is too short to estimate its own memory.
  const nTested = n >= verdictHoursMin && isEnough(nEffective) ? nEffective : null
  const spearman = pearsonCorrelation(
    n === x.ranks.length ? x.ranks : midRanks(pairs.x),
    n === y.ranks.length ? y.ranks : midRanks(pairs.y),
  )
  return {
    n,
    nEffective,
    pearson,
    pValue: correlationP(pearson, nTested),
    ci95: correlationInterval(pearson, nTested),
    spearman,
    spearmanPValue: correlationP(spearman, nTested),
    deseasonalised: deseasonalisedCorrelation(pairs),
    reason: nTested === null ? 'too_few_independent' : null,
  }
}

/** Pearson's r of two series; null when one of them does not vary. */
function pearsonCorrelation(x: Float64Array, y: Float64Array): number | null {
  return pairedCorrelation(x, y).r
}

/** The same with the number of pairs: the indexes at which neither is missing (NaN). */
export function pairedCorrelation(x: Float64Array, y: Float64Array): { r: number | null; pairs: number } {
  const { pairs, xx, yy, xy } = centredProducts(x, y)
  // One root of the product: a series with itself gives exactly 1.
  const r = xx > 0 && yy > 0 ? Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy))) : null
  return { r, pairs }
}

/** Decides whether the independent pairs suffice for a verdict; false when their number is unknown. */
function isEnough(nEffective: number | null): nEffective is number {
  return nEffective !== null && nEffective >= independentMin
}

/** Two-sided p of a correlation; null without it or with n_eff of 2 or less. */
export function correlationP(r: number | null, nEffective: number | null): number | null {
  if (r === null || nEffective === null || nEffective <= 2) return null
  if (Math.abs(r) === 1) return 0
  return studentTwoSidedP(r * Math.sqrt((nEffective - 2) / ((1 - r) * (1 + r))), nEffective - 2)
}

/** Fisher's 95 % interval; null without a correlation or with n_eff of 3 or less. */
export function correlationInterval(r: number | null, nEffective: number | null): [number, number] | null {
  if (r === null || nEffective === null || nEffective <= 3) return null
  const half = normalQuantile975 / Math.sqrt(nEffective - 3)
  return [Math.tanh(Math.atanh(r) - half), Math.tanh(Math.atanh(r) + half)]
}

interface Pairs {
  readonly x: Float64Array
  readonly y: Float64Array
  readonly localHours: Uint8Array
}

/** Cells with both values. */
function completePairs(x: Float64Array, y: Float64Array, localHours: Uint8Array): Pairs {
  if (x.length !== y.length) throw new RangeError('series have different grids')
  const xKept = new Float64Array(x.length)
  const yKept = new Float64Array(x.length)
  const hoursKept = new Uint8Array(x.length)
  let n = 0
  for (let i = 0; i < x.length; i++) {
    const xValue = x[i] as number
    const yValue = y[i] as number
    if (Number.isNaN(xValue) || Number.isNaN(yValue)) continue
    xKept[n] = xValue
    yKept[n] = yValue
    hoursKept[n++] = localHours[i] as number
  }
  return { x: xKept.subarray(0, n), y: yKept.subarray(0, n), localHours: hoursKept.subarray(0, n) }
}

/**
 * Each hour of the day costs a degree of freedom, as the mean of all does: with one day and an hour of the next, r
 * would always be ±1. Null also when only the daily profile varies, because the rest is rounding.
 */
function deseasonalisedCorrelation({ x, y, localHours }: Pairs): number | null {
  if (x.length - new Set(localHours).size < pairsMin - 1) return null
  const xRest = hourOfDayRemoved(x, localHours)
  const yRest = hourOfDayRemoved(y, localHours)
  return isRounding(xRest, x) || isRounding(yRest, y) ? null : pearsonCorrelation(xRest, yRest)
}

function none(n: number, reason: 'insufficient_data' | 'constant'): Correlation {
  const empty = { pearson: null, pValue: null, ci95: null, spearman: null, spearmanPValue: null, deseasonalised: null }
  return { n, nEffective: null, ...empty, reason }
}

/** Holm's step-down test (1979): of many p-values, it finds those that are significant jointly. */

/**
 * One result for each entry of `pValues`: the hypothesis is rejected, with the chance of any false rejection at most
 * `level`. The i-th smallest of m is compared with level/(m − i + 1), up to the first that fails. Null means untested
 * and is not counted.
 */
export function holmSignificant(pValues: readonly (number | null)[], level = 0.05): boolean[] {
  const significant = pValues.map(() => false)
  const tests = pValues.flatMap((p, place) => (p === null ? [] : [{ p, place }])).sort((a, b) => a.p - b.p)
  for (const [rank, { p, place }] of tests.entries()) {
    if (!(p <= level / (tests.length - rank))) break
    significant[place] = true
  }
  return significant
}
