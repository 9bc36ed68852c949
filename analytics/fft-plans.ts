/**
 * Fourier transforms by fft.js with plans that are made once: a plan of 65,536 points costs 12 ms, a transform with it
 * 0.7 ms. Sizes are powers of two. Only the forward direction is offered: the inverse of what is needed here is the
 * forward transform read backwards and divided by the size.
 */

import FFT from 'fft.js'

/** A plan keeps about 24 bytes a point, so that all of them together stay below 50 MB. */
const pointsKeptMax = 1 << 21

export interface FftPlan {
  readonly size: number
  /**
   * out[2k] + i·out[2k+1] = Σ (in[2t] + i·in[2t+1])·exp(−2πi·kt/size). `out` must not be `input`; both have 2·size
   * numbers.
   */
  transform(out: Float64Array, input: Float64Array): void
  /** The same of `size` real numbers; only k = 0 … size/2 are filled in `out`, which has 2·size numbers. */
  realTransform(out: Float64Array, input: Float64Array): void
}

const plans = new Map<number, FftPlan>()
let pointsKept = 0

/** The plan for a size; throws when it is not a power of two above 1. The plans used last are kept. */
export function fftPlan(size: number): FftPlan {
  const known = plans.get(size)
  if (known !== undefined) {
    plans.delete(size)
    plans.set(size, known)
    return known
  }
  const plan: FftPlan = new FFT(size)
  plans.set(size, plan)
  pointsKept += size
  // A map is in the order of use, so the first plans are those that were not asked for the longest.
  for (const old of plans.keys()) {
    if (pointsKept <= pointsKeptMax || old === size) break
    plans.delete(old)
    pointsKept -= old
  }
  return plan
}

/**
 * The smallest power of two that is at least `count`, and at least 2: the size of a transform that holds so many
 * points.
 */
export function transformSize(count: number): number {
  let size = 2
  while (size < count) size *= 2
  return size
}
