/**
 * Cross-correlation of two series with gaps, and the lag at which it is largest.
 *
 * With means and population standard deviations over all observed cells of each series, N cells:
 *   r_xy(k) = [mean over observed pairs of (x_t − x̄)·(y_{t+k} − ȳ)] / (s_x·s_y) · (N − |k|)/N
 * k > 0 means that y follows x. On complete data r_xy(+k) is `ccf(y, x, adjusted=False)[k]` of statsmodels and
 * r_xy(−k) is `ccf(x, y, adjusted=False)[k]`.
 *
 * Each series is cut into blocks of at least the largest lag and transformed once, for all its pairs. A block of x
 * meets the same and the next block of y, so that a pair costs a sum over spectra and one short transform. Series that
 * miss the same cells, as the metrics of one device mostly do, have one mask, and their pairs are counted once.
 */

import { spreadOf } from './autocorrelation.ts'
import { fftPlan, transformSize } from './fft-plans.ts'
import { momentsOf } from './moments.ts'
import { release } from './release.ts'

/** Below so many pairs a lag has no value. */
const pairsMin = 20
/** Shorter blocks would spend their time on overheads. */
const blockMin = 1024
/** Differences of this size between two lags are rounding of the transform: the smaller lag is taken. */
const tieTolerance = 1e-12

export interface SeriesTransform {
  readonly values: Float64Array
  readonly lagMax: number
  /** Cells of a block; its transform is twice as long. */
  readonly block: number
  /** Of the standardised values: by block and frequency 0 … block the real and imaginary parts. */
  readonly spectra: Float64Array
  readonly mask: Mask
}

/** Which cells were observed. */
interface Mask {
  /** As those of the values. */
  readonly spectra: Float64Array
  /** Pair counts by lag, from −lagMax on, with each mask that it has met. */
  readonly pairs: Map<Mask, Float64Array>
}

/**
 * `values`: cells in order, NaN where missing. `lagMax`: the largest |k| in cells that will be asked for. `others`:
 * those made before of series on the same grid, with which a mask may be shared. `moments`: those of the values.
 * Undefined when nothing was observed or the observed values do not vary.
 */
export function seriesTransform(
  values: Float64Array,
  lagMax: number,
  others: readonly (SeriesTransform | undefined)[] = [],
  moments = momentsOf(values),
): SeriesTransform | undefined {
  const { mean, deviation } = spreadOf(moments)
  if (!(deviation > 0)) return undefined
  const block = transformSize(Math.max(blockMin, lagMax))
  const known = others.find(other => other?.lagMax === lagMax && missTheSame(other.values, values))
  const mask = known?.mask ?? { spectra: blockSpectra(values, block, 0, 0), pairs: new Map() }
  return { values, lagMax, block, spectra: blockSpectra(values, block, mean, 1 / deviation), mask }
}

/** Gives their memory back; nobody may use them any more. */
export function releaseTransforms(transforms: readonly (SeriesTransform | undefined)[]): void {
  release(transforms.flatMap(transform => (transform ? [transform.spectra, transform.mask.spectra] : [])))
}

function missTheSame(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (Number.isNaN(a[i] as number) !== Number.isNaN(b[i] as number)) return false
  }
  return true
}

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
    pairs = sumsByLag(x.mask.spectra, y.mask.spectra, block, lagMax).map(Math.round)
    x.mask.pairs.set(y.mask, pairs)
  }
  const r = sumsByLag(x.spectra, y.spectra, block, lagMax)
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

/** The transforms of (value − mean)·scale in each block, 0 where missing; of 1 in place of the value for a scale of 0. */
function blockSpectra(values: Float64Array, block: number, mean: number, scale: number): Float64Array {
  const size = 2 * block
  const plan = fftPlan(size)
  const blocks = Math.ceil(values.length / block)
  const length = 2 * (block + 1)
  const spectra = new Float64Array(blocks * length)
  const { input, output } = plan
  for (let number = 0; number < blocks; number++) {
    input.fill(0, 0, size)
    const start = number * block
    const end = Math.min(start + block, values.length)
    for (let i = start; i < end; i++) {
      const value = values[i] as number
      if (!Number.isNaN(value)) input[i - start] = scale === 0 ? 1 : (value - mean) * scale
    }
    plan.realTransform(output, input)
    spectra.set(output.subarray(0, length), number * length)
  }
  return spectra
}

/** Σ x_t·y_{t+k} for k = −lagMax … lagMax. */
function sumsByLag(x: Float64Array, y: Float64Array, block: number, lagMax: number): Float64Array {
  const { same, later, earlier } = crossSpectra(x, y, block)
  const size = 2 * block
  // Both directions are real, so one transform holds the sums with later y in its real and with later x in its imaginary
  // part: at the mirrored frequency each has its conjugate.
  const plan = fftPlan(size)
  const { input, output } = plan
  for (let k = 0; k <= block; k++) {
    const mirror = k === 0 ? 0 : size - k
    const sameReal = same[2 * k] as number
    const sameImaginary = same[2 * k + 1] as number
    const laterReal = sameReal + (later[2 * k] as number)
    const laterImaginary = sameImaginary + (later[2 * k + 1] as number)
    const earlierReal = sameReal + (earlier[2 * k] as number)
    const earlierImaginary = (earlier[2 * k + 1] as number) - sameImaginary
    input[2 * mirror] = laterReal + earlierImaginary
    input[2 * mirror + 1] = earlierReal - laterImaginary
    input[2 * k] = laterReal - earlierImaginary
    input[2 * k + 1] = laterImaginary + earlierReal
  }
  release([same, later, earlier])
  plan.transform(output, input)
  const sums = new Float64Array(2 * lagMax + 1)
  for (let lag = 0; lag <= lagMax; lag++) {
    // A forward transform in place of the inverse one has its lags in the opposite order.
    const place = lag === 0 ? 0 : size - lag
    sums[lagMax - lag] = (output[2 * place + 1] as number) / size
    sums[lagMax + lag] = (output[2 * place] as number) / size
  }
  return sums
}

/**
 * Over the blocks b: Σ X̄_b·Y_b, Σ X̄_b·Y_{b+1} and Σ Ȳ_b·X_{b+1}. What comes from the next block is shifted by the length
 * of a block, which turns every other frequency round.
 */
function crossSpectra(x: Float64Array, y: Float64Array, block: number) {
  const length = 2 * (block + 1)
  const same = new Float64Array(length)
  const later = new Float64Array(length)
  const earlier = new Float64Array(length)
  for (let offset = 0; offset < x.length; offset += length) {
    addProducts(same, x, offset, y, offset)
    if (offset + length === x.length) break
    addProducts(later, x, offset, y, offset + length)
    addProducts(earlier, y, offset, x, offset + length)
  }
  for (const sums of [later, earlier]) {
    for (let at = 2; at < length; at += 4) {
      sums[at] = -(sums[at] as number)
      sums[at + 1] = -(sums[at + 1] as number)
    }
  }
  return { same, later, earlier }
}

/** Adds the products of a block's conjugate with another block. */
function addProducts(sums: Float64Array, x: Float64Array, xOffset: number, y: Float64Array, yOffset: number): void {
  for (let at = 0; at < sums.length; at += 2) {
    const a = x[xOffset + at] as number
    const b = x[xOffset + at + 1] as number
    const c = y[yOffset + at] as number
    const d = y[yOffset + at + 1] as number
    sums[at] = (sums[at] as number) + a * c + b * d
    sums[at + 1] = (sums[at + 1] as number) + a * d - b * c
  }
}
