/**
 * Autocorrelation of a series with gaps: r_k = Σ d_t·d_{t+k} / √(A_k·B_k), of the deviations d from the mean of the
 * observed. A_k sums the squares of the d_t with a partner, and B_k sums the partners' squares, so that r_k is within
 * ±1 even for few cells (Cauchy and Schwarz). The k cells at either end, whose partners would be outside of the series,
 * count in A_k and B_k with the share of the others that have one. On complete data both are Σ d²: the usual biased
 * estimator (Box and Jenkins), the default of R and statsmodels.
 */

import { momentsOf, spreadOf } from '../summary/moments.ts'
import { blockSpectra, laterSums, pairCounts, type SeriesTransform, seriesTransform } from './block-spectra.ts'

/** A lag with fewer pairs has no value. */
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
 * `transform`: the values' transform, if it exists already. O(n log n) with a transform that reaches so far, and
 * O(n·lagMax/block) with a shorter one. Undefined without observed values, or when they do not vary.
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
  const r = laterSums(spectra, spectra, block, lagMax)
  const scales = observed === cells ? undefined : pairScales(transform, pairs)
  const variance = r[0] as number
  for (let lag = 0; lag <= lagMax; lag++) {
    const scale = lag === 0 ? variance : (scales?.[lag] ?? variance)
    r[lag] = (pairs[lag] as number) < pairsMin ? Number.NaN : (r[lag] as number) / scale
  }
  return { cells, observed, r, pairs }
}

/** √(A_k·B_k) by lag. */
function pairScales(transform: SeriesTransform, pairs: Float64Array): Float64Array {
  const ofCells = squaresOf(transform.values)
  const { squares, counts } = runningSums(ofCells)
  const [earlier, later] = pairSquares(transform, ofCells, squares, pairs.length - 1)
  const cells = ofCells.length
  const observed = counts[cells] as number
  const scales = new Float64Array(pairs.length)
  for (let lag = 0; lag < scales.length; lag++) {
    // The cells at either end, and how many of the others are observed.
    const behind = cells - lag
    const ofFirst = squares[lag] as number
    const ofLast = (squares[cells] as number) - (squares[behind] as number)
    const afterFirst = observed - (counts[lag] as number)
    const beforeLast = counts[behind] as number
    const count = pairs[lag] as number
    const a = (earlier[lag] as number) + (beforeLast > 0 ? (ofLast * count) / beforeLast : 0)
    const b = (later[lag] as number) + (afterFirst > 0 ? (ofFirst * count) / afterFirst : 0)
    scales[lag] = Math.sqrt(a * b)
  }
  return scales
}

/** Squares of the standardised cells, NaN where missing. */
function squaresOf(values: Float64Array): Float64Array {
  const { mean, deviation } = spreadOf(momentsOf(values))
  const squares = new Float64Array(values.length)
  for (let cell = 0; cell < values.length; cell++) squares[cell] = (((values[cell] as number) - mean) / deviation) ** 2
  return squares
}

/** The sums of the squares before each cell, and how many they are. */
function runningSums(ofCells: Float64Array): { squares: Float64Array; counts: Float64Array } {
  const squares = new Float64Array(ofCells.length + 1)
  const counts = new Float64Array(ofCells.length + 1)
  let [sum, count] = [0, 0]
  for (let cell = 0; cell < ofCells.length; cell++) {
    const square = ofCells[cell] as number
    if (!Number.isNaN(square)) {
      sum += square
      count++
    }
    squares[cell + 1] = sum
    counts[cell + 1] = count
  }
  return { squares, counts }
}

/** With more of them, transforms are quicker than sums over each. */
const runsMax = 64

/** Indexed by lag: squares of the values with a later partner, and squares of those partners. */
function pairSquares(
  { block, mask }: SeriesTransform,
  ofCells: Float64Array,
  sums: Float64Array,
  lagMax: number,
): [Float64Array, Float64Array] {
  const runs = runsOf(ofCells)
  if (runs.length > runsMax) {
    const spectra = blockSpectra(ofCells, block, 0, 1)
    return [laterSums(spectra, mask.spectra, block, lagMax), laterSums(mask.spectra, spectra, block, lagMax)]
  }
  const [earlier, later] = [new Float64Array(lagMax + 1), new Float64Array(lagMax + 1)]
  // The cells k before a run and k behind it: few outages mean few differences of one running sum.
  for (const [from, to] of runs) addShifted(sums, from, to, earlier, later)
  return [earlier, later]
}

function addShifted(sums: Float64Array, from: number, to: number, earlier: Float64Array, later: Float64Array): void {
  const cells = sums.length - 1
  for (let lag = 0; lag < earlier.length; lag++) {
    ;(earlier[lag] as number) += (sums[Math.max(0, to - lag)] as number) - (sums[Math.max(0, from - lag)] as number)
    ;(later[lag] as number) +=
      (sums[Math.min(cells, to + lag)] as number) - (sums[Math.min(cells, from + lag)] as number)
  }
}

/** Stretches without a missing cell, [from, to). */
function runsOf(values: Float64Array): [from: number, to: number][] {
  const runs: [number, number][] = []
  for (let cell = 0, from = -1; cell <= values.length; cell++) {
    const isThere = cell < values.length && !Number.isNaN(values[cell] as number)
    if (isThere && from < 0) from = cell
    if (isThere || from < 0) continue
    runs.push([from, cell])
    from = -1
  }
  return runs
}

/** Without gaps the counts follow from the length. */
function ownPairs({ values, observed, block, mask }: SeriesTransform, lagMax: number): Float64Array {
  if (observed === values.length) return Float64Array.from({ length: lagMax + 1 }, (_, lag) => values.length - lag)
  if (mask.ownPairs.length <= lagMax) mask.ownPairs = pairCounts(laterSums(mask.spectra, mask.spectra, block, lagMax))
  return mask.ownPairs.subarray(0, lagMax + 1)
}

/**
 * r_1 by the same formula, whatever the number of pairs; NaN when no two neighbours were observed or nothing varies.
 */
export function lagOneAutocorrelation(values: Float64Array): number {
  const { mean, deviation, observed } = spreadOf(momentsOf(values))
  if (observed === 0 || deviation === 0) return Number.NaN
  let [sum, earlier, later, pairs] = [0, 0, 0, 0]
  for (let i = 1; i < values.length; i++) {
    const [one, next] = [(values[i - 1] as number) - mean, (values[i] as number) - mean]
    if (Number.isNaN(one * next)) continue
    sum += one * next
    earlier += one * one
    later += next * next
    pairs++
  }
  if (pairs === 0) return Number.NaN
  // The cell at either end, as in `pairScales`.
  const shareOf = (end: number) => (Number.isNaN(end) ? 0 : ((end - mean) ** 2 * pairs) / (observed - 1))
  return sum / Math.sqrt((earlier + shareOf(values.at(-1) as number)) * (later + shareOf(values[0] as number)))
}

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
