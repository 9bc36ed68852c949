/**
 * Autocorrelation of a series with gaps: r_k = Σ d_t·d_{t+k} / √(A_k·B_k), of the deviations d from the mean of the
 * observed. A_k sums the squares of the d_t with a partner, and B_k sums the partners' squares, so that r_k is within
 * ±1 even for few cells (Cauchy and Schwarz). The k cells at either end, whose partners would be outside of the series,
 * count in A_k and B_k with the share of the others that have one. On complete data both are Σ d²: the usual biased
 * estimator (Box and Jenkins), the default of R and statsmodels.
 */

import { momentsOf, spreadOf } from '../summary/moments.ts'
import { laterSums, pairCounts, type SeriesTransform, seriesTransform, squaresOf } from './block-spectra.ts'

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
  const { values, observed } = transform
  const { earlier, later, squareOf } = pairSquares(transform, pairs.length - 1)
  const [first, last] = [new Edge(observed), new Edge(observed)]
  return earlier.map((squares, lag) => {
    if (lag > 0) {
      first.add(squareOf(values[lag - 1] as number))
      last.add(squareOf(values[values.length - lag] as number))
    }
    const count = pairs[lag] as number
    return Math.sqrt((squares + last.share(count)) * ((later[lag] as number) + first.share(count)))
  })
}

/** With more of them, transforms are quicker than sums over each. */
const runsMax = 64

/** Indexed by lag: squares of the values with a later partner, and squares of those partners. */
function pairSquares(transform: SeriesTransform, lagMax: number) {
  const { values, block, mask } = transform
  const runs = runsOf(values)
  const { squareOf, spectra } = squaresOf(transform)
  if (runs.length > runsMax) {
    const ofSquares = spectra()
    return {
      squareOf,
      earlier: laterSums(ofSquares, mask.spectra, block, lagMax),
      later: laterSums(mask.spectra, ofSquares, block, lagMax),
    }
  }
  // The cells k before a run and k behind it: few outages mean few differences of one running sum.
  const sums = new Float64Array(values.length + 1)
  for (let cell = 0; cell < values.length; cell++) {
    const square = squareOf(values[cell] as number)
    sums[cell + 1] = (sums[cell] as number) + (Number.isNaN(square) ? 0 : square)
  }
  const upTo = (cell: number) => sums[Math.min(values.length, Math.max(0, cell))] as number
  const [earlier, later] = [new Float64Array(lagMax + 1), new Float64Array(lagMax + 1)]
  for (const [from, to] of runs) {
    for (let lag = 0; lag <= lagMax; lag++) {
      earlier[lag] = (earlier[lag] as number) + upTo(to - lag) - upTo(from - lag)
      later[lag] = (later[lag] as number) + upTo(to + lag) - upTo(from + lag)
    }
  }
  return { squareOf, earlier, later }
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

/** The cells at one end of the series that have no partner. */
class Edge {
  #inner: number
  #squares = 0

  constructor(observed: number) {
    this.#inner = observed
  }

  /** NaN is a missing cell. */
  add(square: number): void {
    if (Number.isNaN(square)) return
    this.#inner--
    this.#squares += square
  }

  /** Share of its squares, equal to the share of other cells that have a partner. */
  share(pairs: number): number {
    return this.#inner > 0 ? (this.#squares * pairs) / this.#inner : 0
  }
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
  const [first, last] = [new Edge(observed), new Edge(observed)]
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
  first.add(((values[0] as number) - mean) ** 2)
  last.add(((values.at(-1) as number) - mean) ** 2)
  return sum / Math.sqrt((earlier + last.share(pairs)) * (later + first.share(pairs)))
}
