/**
 * A series cut into blocks, each transformed once, for all its sums of products by lag: with itself and with the others
 * of its grid. A lag of d blocks and r cells, 0 ≤ r ≤ block, combines pairs that are d and d + 1 blocks apart, so that
 * a stretch of lags costs two sums over spectra and half a short transform. Series with the same missing cells, such as
 * most metrics of one device, share one mask, and their pairs are counted once.
 */

import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { fftPlan, transformSize } from '../spectrum/fft-plans.ts'
import { momentsOf, spreadOf } from '../summary/moments.ts'

/** Shorter blocks would spend their time on overheads. */
const blockMin = 1024

export interface SeriesTransform {
  readonly values: Float64Array
  readonly observed: number
  /** Lower bound of a block's length. */
  readonly lagMax: number
  /** Cells of a block. Its transform is twice as long. */
  readonly block: number
  /** Spectra of the standardised values: by block and frequency 0 … block the real and imaginary parts. */
  readonly spectra: Float64Array
  readonly mask: Mask
}

/** The observed cells. */
interface Mask {
  /** Laid out like the values' spectra. */
  readonly spectra: Float64Array
  /** Pair counts by lag, from −lagMax on, for each mask combined so far. */
  readonly pairs: Map<Mask, Float64Array>
  /** Pair counts with itself by lag, from 0 on, as far as requested. */
  ownPairs: Float64Array
}

/**
 * `values`: cells in order, NaN where missing. `lagMax`: the largest |k| in cells between two series. `others`:
 * transforms of other series on the same grid, which may share a mask. `moments`: the moments of the values. Undefined
 * without observed values, or when they do not vary.
 */
export function seriesTransform(
  values: Float64Array,
  lagMax: number,
  others: readonly (SeriesTransform | undefined)[] = [],
  moments = momentsOf(values),
): SeriesTransform | undefined {
  const { mean, deviation, observed } = spreadOf(moments)
  if (!(deviation > 0)) return undefined
  const block = transformSize(Math.max(blockMin, lagMax))
  const known = others.find(other => other?.lagMax === lagMax && missTheSame(other.values, values))
  const mask = known?.mask ?? {
    spectra: blockSpectra(values, block, 0, 0),
    pairs: new Map(),
    ownPairs: new Float64Array(0),
  }
  return { values, observed, lagMax, block, spectra: blockSpectra(values, block, mean, 1 / deviation), mask }
}

/** Frees their memory. They must not be used any more. */
export function releaseTransforms(transforms: readonly (SeriesTransform | undefined)[]): void {
  detachBuffers(transforms.flatMap(transform => (transform ? [transform.spectra, transform.mask.spectra] : [])))
}

function missTheSame(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (Number.isNaN(a[i] as number) !== Number.isNaN(b[i] as number)) return false
  }
  return true
}

/** The transforms of (value − mean)·scale in each block, 0 where missing; of 1 in place of the value for a scale of 0. */
export function blockSpectra(values: Float64Array, block: number, mean: number, scale: number): Float64Array {
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

/** The pairs of two masks, or of one with itself, from their sums, which are whole numbers but for rounding. */
export function pairCounts(sums: Float64Array): Float64Array {
  for (let place = 0; place < sums.length; place++) sums[place] = Math.round(sums[place] as number)
  return sums
}

/** Σ x_t·y_{t+k} for k = 0 … lagMax, from the spectra of two series, which may be the same. */
export function laterSums(x: Float64Array, y: Float64Array, block: number, lagMax: number): Float64Array {
  const sums = new Float64Array(lagMax + 1)
  let near = productsApart(x, y, block, 0)
  for (let start = 0; start <= lagMax; start += 2 * block) {
    const blocksApart = start / block
    const middle = productsApart(x, y, block, blocksApart + 1)
    const far = productsApart(x, y, block, blocksApart + 2)
    const lags = lagsOfTwo(stretchOf(near, middle), stretchOf(middle, far), block)
    sums.set(lags.first.subarray(0, Math.min(block, lagMax + 1 - start)), start)
    if (start + block <= lagMax) {
      sums.set(lags.second.subarray(0, Math.min(block, lagMax + 1 - start - block)), start + block)
    }
    detachBuffers([near, middle])
    near = far
  }
  return sums
}

/** Σ x_t·y_{t+k} for k = −lagMax … lagMax, at most a block, from the spectra of two series. */
export function crossSums(x: Float64Array, y: Float64Array, block: number, lagMax: number): Float64Array {
  const same = productsApart(x, y, block, 0)
  const later = stretchOf(same, productsApart(x, y, block, 1))
  const earlier = stretchOf(conjugated(same), productsApart(y, x, block, 1))
  const lags = lagsOfTwo(later, earlier, block)
  detachBuffers([same, later, earlier])
  const sums = new Float64Array(2 * lagMax + 1)
  for (let lag = 0; lag <= lagMax; lag++) {
    sums[lagMax - lag] = lags.second[lag] as number
    sums[lagMax + lag] = lags.first[lag] as number
  }
  return sums
}

/** Σ_b X̄_b·Y_{b+distance} over the blocks b, by frequency 0 … block. */
function productsApart(x: Float64Array, y: Float64Array, block: number, distance: number): Float64Array {
  const length = 2 * (block + 1)
  const sums = new Float64Array(length)
  for (let offset = 0; offset + distance * length < x.length; offset += length) {
    addProducts(sums, x, offset, y, offset + distance * length)
  }
  return sums
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

/**
 * The spectrum of a stretch of lags r: `near` sums pairs some blocks apart, `far` pairs one block more. `far` is
 * shifted by the length of a block, which negates every other frequency.
 */
function stretchOf(near: Float64Array, far: Float64Array): Float64Array {
  const stretch = new Float64Array(near.length)
  for (let at = 0; at < near.length; at += 4) {
    stretch[at] = (near[at] as number) + (far[at] as number)
    stretch[at + 1] = (near[at + 1] as number) + (far[at + 1] as number)
  }
  for (let at = 2; at < near.length; at += 4) {
    stretch[at] = (near[at] as number) - (far[at] as number)
    stretch[at + 1] = (near[at + 1] as number) - (far[at + 1] as number)
  }
  return stretch
}

/** Gives the same lags in the opposite order, for real numbers. */
function conjugated(spectrum: Float64Array): Float64Array {
  const turned = spectrum.slice()
  for (let at = 1; at < turned.length; at += 2) turned[at] = -(turned[at] as number)
  return turned
}

/**
 * The lags 0 … block of two stretches. Both are real, so one transform holds the first in its real and the second in its
 * imaginary part: at the mirrored frequency each has its conjugate.
 */
function lagsOfTwo(first: Float64Array, second: Float64Array, block: number) {
  const size = 2 * block
  const plan = fftPlan(size)
  const { input, output } = plan
  for (let k = 0; k <= block; k++) {
    const mirror = k === 0 ? 0 : size - k
    const firstReal = first[2 * k] as number
    const firstImaginary = first[2 * k + 1] as number
    const secondReal = second[2 * k] as number
    const secondImaginary = second[2 * k + 1] as number
    input[2 * mirror] = firstReal + secondImaginary
    input[2 * mirror + 1] = secondReal - firstImaginary
    input[2 * k] = firstReal - secondImaginary
    input[2 * k + 1] = firstImaginary + secondReal
  }
  plan.transform(output, input)
  const lags = { first: new Float64Array(block + 1), second: new Float64Array(block + 1) }
  for (let lag = 0; lag <= block; lag++) {
    // A forward transform in place of the inverse one has its lags in the opposite order.
    const place = lag === 0 ? 0 : size - lag
    lags.first[lag] = (output[2 * place] as number) / size
    lags.second[lag] = (output[2 * place + 1] as number) / size
  }
  return lags
}
