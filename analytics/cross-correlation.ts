/**
 * Cross-correlation of two series with gaps, and the lag at which it is largest.
 *
 * With means and population standard deviations over all observed cells of each series, N cells:
 *   r_xy(k) = [mean over observed pairs of (x_t − x̄)·(y_{t+k} − ȳ)] / (s_x·s_y) · (N − |k|)/N
 * k > 0 means that y follows x. On complete data r_xy(+k) is `ccf(y, x, adjusted=False)[k]` of statsmodels and
 * r_xy(−k) is `ccf(x, y, adjusted=False)[k]`.
 *
 * Each series is cut into blocks of at least the largest lag and transformed once, for all its pairs. A block of x
 * meets the same and the next block of y, so that a pair costs a sum over spectra and two short transforms: 1.2 ms in
 * place of 4.4 ms for 43,200 cells and 1,440 lags.
 */

import { observedSpread } from './autocorrelation.ts'
import { fftPlan, transformSize } from './fft-plans.ts'

/** Below so many pairs a lag has no value. */
const pairsMin = 20
/** Shorter blocks would spend their time on overheads. */
const blockMin = 1024
/** Differences of this size between two lags are rounding of the transform: the smaller lag is taken. */
const tieTolerance = 1e-12

export interface SeriesTransform {
  readonly cells: number
  readonly lagMax: number
  /** Cells of a block; its transform is twice as long. */
  readonly block: number
  /**
   * By block and frequency 0 … block: the transforms of the standardised values and of the mask, real and imaginary
   * parts.
   */
  readonly spectra: Float64Array
}

/** Numbers that are kept for one frequency of one block. */
const stride = 4

/**
 * `values`: cells in order, NaN where missing. `lagMax`: the largest |k| in cells that will be asked for.
 * Undefined when nothing was observed or the observed values do not vary.
 */
export function seriesTransform(values: Float64Array, lagMax: number): SeriesTransform | undefined {
  const { mean, deviation } = observedSpread(values)
  if (!(deviation > 0)) return undefined
  const block = transformSize(Math.max(blockMin, lagMax))
  const size = 2 * block
  const plan = fftPlan(size)
  const blocks = Math.ceil(values.length / block)
  const spectra = new Float64Array(blocks * (block + 1) * stride)
  const input = new Float64Array(2 * size)
  const output = new Float64Array(2 * size)
  for (let number = 0; number < blocks; number++) {
    input.fill(0)
    const start = number * block
    const end = Math.min(start + block, values.length)
    for (let i = start; i < end; i++) {
      const value = values[i] as number
      if (Number.isNaN(value)) continue
      input[2 * (i - start)] = (value - mean) / deviation
      input[2 * (i - start) + 1] = 1
    }
    plan.transform(output, input)
    split(output, spectra, number * (block + 1) * stride)
  }
  return { cells: values.length, lagMax, block, spectra }
}

export interface CrossCorrelation {
  readonly lagMax: number
  /** r_xy(k) at index k + lagMax; NaN where fewer than 20 pairs were observed. */
  readonly r: Float64Array
  readonly pairs: Float64Array
}

/** Both transforms must come from series on one grid, with one `lagMax`. */
export function crossCorrelation(x: SeriesTransform, y: SeriesTransform): CrossCorrelation {
  if (x.cells !== y.cells || x.lagMax !== y.lagMax) throw new RangeError('the two series are not on one grid')
  const { cells, lagMax } = x
  const r = new Float64Array(2 * lagMax + 1)
  const pairs = new Float64Array(2 * lagMax + 1)
  const size = 2 * x.block
  const fill = (sums: Float64Array, sign: number) => {
    for (let lag = 0; lag <= lagMax; lag++) {
      // A forward transform in place of the inverse one has its lags in the opposite order.
      const place = lag === 0 ? 0 : size - lag
      const count = Math.round((sums[2 * place + 1] as number) / size)
      const mean = (sums[2 * place] as number) / size / count
      pairs[lagMax + sign * lag] = count
      r[lagMax + sign * lag] = count < pairsMin ? Number.NaN : (mean * (cells - lag)) / cells
    }
  }
  // Σ x_t·y_{t−k} is Σ y_t·x_{t+k}: the negative lags are the positive ones of the pair turned round.
  fill(laterSums(y, x), -1)
  fill(laterSums(x, y), 1)
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

/** Splits the transform of values + i·mask by symmetry into those of the two real series. */
function split(transform: Float64Array, spectra: Float64Array, offset: number): void {
  const size = transform.length / 2
  for (let k = 0; k <= size / 2; k++) {
    const mirror = k === 0 ? 0 : size - k
    const real = transform[2 * k] as number
    const imaginary = transform[2 * k + 1] as number
    const mirrorReal = transform[2 * mirror] as number
    const mirrorImaginary = transform[2 * mirror + 1] as number
    const place = offset + stride * k
    spectra[place] = (real + mirrorReal) / 2
    spectra[place + 1] = (imaginary - mirrorImaginary) / 2
    spectra[place + 2] = (imaginary + mirrorImaginary) / 2
    spectra[place + 3] = (mirrorReal - real) / 2
  }
}

/**
 * Sums over all pairs in which `second` is the same or up to a block later than `first`: 2·block complex numbers,
 * products in the real and pair counts in the imaginary part, times the size and in the opposite order of lags.
 */
function laterSums(first: SeriesTransform, second: SeriesTransform): Float64Array {
  const { block } = first
  const size = 2 * block
  const products = crossSpectra(first.spectra, second.spectra, block)
  // V + i·M, where the transforms of both are real: at the mirrored frequency each has its conjugate.
  const input = new Float64Array(2 * size)
  for (let k = 0; k <= block; k++) {
    const mirror = k === 0 ? 0 : size - k
    const valueReal = products[stride * k] as number
    const valueImaginary = products[stride * k + 1] as number
    const maskReal = products[stride * k + 2] as number
    const maskImaginary = products[stride * k + 3] as number
    input[2 * mirror] = valueReal + maskImaginary
    input[2 * mirror + 1] = maskReal - valueImaginary
    input[2 * k] = valueReal - maskImaginary
    input[2 * k + 1] = valueImaginary + maskReal
  }
  const sums = new Float64Array(2 * size)
  fftPlan(size).transform(sums, input)
  return sums
}

/**
 * Σ F̄_b·(S_b + (−1)^k·S_{b+1}) over the blocks b, of values and of masks: the sign shifts the next block by its
 * length.
 */
function crossSpectra(first: Float64Array, second: Float64Array, block: number): Float64Array {
  const blockLength = (block + 1) * stride
  const none = new Float64Array(blockLength)
  const products = new Float64Array(blockLength)
  for (let offset = 0; offset < first.length; offset += blockLength) {
    const later = offset + blockLength
    const next = later < second.length ? second.subarray(later, later + blockLength) : none
    let sign = 1
    for (let at = 0; at < blockLength; at += stride) {
      const place = offset + at
      const a = first[place] as number
      const b = first[place + 1] as number
      const c = first[place + 2] as number
      const d = first[place + 3] as number
      const e = (second[place] as number) + sign * (next[at] as number)
      const f = (second[place + 1] as number) + sign * (next[at + 1] as number)
      const g = (second[place + 2] as number) + sign * (next[at + 2] as number)
      const h = (second[place + 3] as number) + sign * (next[at + 3] as number)
      products[at] = (products[at] as number) + a * e + b * f
      products[at + 1] = (products[at + 1] as number) + a * f - b * e
      products[at + 2] = (products[at + 2] as number) + c * g + d * h
      products[at + 3] = (products[at + 3] as number) + c * h - d * g
      sign = -sign
    }
  }
  return products
}
