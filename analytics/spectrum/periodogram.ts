/**
 * Raw power by frequency, P = |FFT|² under a periodic Hann window with at least twofold zero padding. Missing cells
 * count as 0, so the series has to be without mean and trend.
 */

import { fftPlan, transformSize } from './fft-plans.ts'

export interface Spectrum {
  /** P by bin; bin k is at k/size cycles a cell, k = 0 … size/2. */
  readonly power: Float64Array
  readonly size: number
  readonly cells: number
}

/** ½ − ½·cos(2πi/cells): the periodic Hann window, whose transform is zero from 2/T beside a cycle at every 1/T. */
export function hannWindow(cells: number): Float64Array {
  const window = new Float64Array(cells)
  for (let i = 0; i < cells; i++) window[i] = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / cells)
  return window
}

/** Makes the spectra of several series of the window's length. A spectrum is overwritten by the next call. */
export function createPeriodogram(window: Float64Array): (values: Float64Array) => Spectrum {
  const cells = window.length
  const size = transformSize(2 * cells)
  const plan = fftPlan(size)
  const power = new Float64Array(size / 2 + 1)

  return values => {
    const { input, output } = plan
    tapered(values, window, input)
    input.fill(0, cells, size)
    plan.realTransform(output, input)
    squared(output, power)
    return { power, size, cells }
  }
}

// Both loops are outside the closure: a function created for each device would be compiled again each time.
function tapered(values: Float64Array, window: Float64Array, result: Float64Array): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    result[i] = Number.isNaN(value) ? 0 : value * (window[i] as number)
  }
}

function squared(complex: Float64Array, result: Float64Array): void {
  for (let k = 0; k < result.length; k++) {
    const real = complex[2 * k] as number
    const imaginary = complex[2 * k + 1] as number
    result[k] = real * real + imaginary * imaginary
  }
}

/** True if a bin with two neighbours is above the left and not below the right one. */
export function isLocalMaximum(power: Float64Array, bin: number): boolean {
  const value = power[bin] as number
  return value > (power[bin - 1] as number) && value >= (power[bin + 1] as number)
}

/** The vertex, in bins, of the parabola through ln P at a local maximum and its two neighbours. */
export function parabolaVertex({ power }: Spectrum, bin: number): number {
  const left = Math.log(power[bin - 1] as number)
  const middle = Math.log(power[bin] as number)
  const right = Math.log(power[bin + 1] as number)
  const curvature = left - 2 * middle + right
  // Without a curvature, or beside a bin without power, interpolation is impossible.
  return Number.isFinite(curvature) && curvature < 0 ? bin + (0.5 * (left - right)) / curvature : bin
}
