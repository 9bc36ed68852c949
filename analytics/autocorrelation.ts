/**
 * Autocorrelation of a series with gaps.
 *
 * With mask m, deviations d = m·(x − mean of the observed), N cells and pair counts n_k = Σ m_t·m_{t+k}:
 *   r_k = [(Σ d_t·d_{t+k}) / n_k] / [(Σ d²) / n_0] · (N − k)/N
 * which on complete data is the usual biased estimator (Box & Jenkins; the default of R and statsmodels), and with gaps
 * `acf(adjusted=True, missing="conservative")` of statsmodels times (1 − k/N): Parzen's estimator with the usual taper.
 */

import { fftPlan, transformSize } from './fft-plans.ts'
import { isConstant, type Moments, momentsOf } from './moments.ts'

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
 * `values`: cells in order, NaN where missing. `lagMax`: the largest lag in cells, below the number of cells. `moments`:
 * those of the values. O(n log n). Undefined when nothing was observed or the observed values do not vary.
 */
export function autocorrelation(
  values: Float64Array,
  lagMax: number,
  moments = momentsOf(values),
): Autocorrelation | undefined {
  const spread = spreadOf(moments)
  if (!(spread.deviation > 0)) return undefined
  const { products, pairs } =
    spread.observed === values.length ? completeSums(values, lagMax, spread) : maskedSums(values, lagMax, spread)
  const cells = values.length
  const r = new Float64Array(lagMax + 1)
  // Deviations were divided by the standard deviation, so that (Σ d²)/n_0 is 1 but for rounding.
  const variance = (products[0] as number) / spread.observed
  for (let lag = 0; lag <= lagMax; lag++) {
    const count = pairs[lag] as number
    r[lag] = count < pairsMin ? Number.NaN : (((products[lag] as number) / count / variance) * (cells - lag)) / cells
  }
  return { cells, observed: spread.observed, r, pairs }
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
  return ((sum / pairs / (deviation * deviation)) * (values.length - 1)) / values.length
}

export interface ObservedSpread {
  readonly mean: number
  /** Population standard deviation of the observed cells; 0 when they are all equal. */
  readonly deviation: number
  readonly observed: number
}

/** Mean and population standard deviation of the observed cells. */
export function spreadOf(moments: Moments): ObservedSpread {
  const { count, mean, std } = moments
  return { mean, deviation: isConstant(moments) ? 0 : std * Math.sqrt((count - 1) / count), observed: count }
}

interface LagSums {
  readonly products: Float64Array
  readonly pairs: Float64Array
}

/** Without gaps: the inverse transform of |X|² holds the sums of products, and the pair counts are known. */
function completeSums(values: Float64Array, lagMax: number, { mean, deviation }: ObservedSpread): LagSums {
  const size = transformSize(values.length + lagMax)
  const plan = fftPlan(size)
  const { input: series, output: spectrum } = plan
  for (let i = 0; i < values.length; i++) series[i] = ((values[i] as number) - mean) / deviation
  series.fill(0, values.length, size)
  plan.realTransform(spectrum, series)
  for (let k = 0; k <= size / 2; k++) {
    const real = spectrum[2 * k] as number
    const imaginary = spectrum[2 * k + 1] as number
    const power = real * real + imaginary * imaginary
    series[k] = power
    if (k > 0) series[size - k] = power
  }
  plan.realTransform(spectrum, series)
  const products = new Float64Array(lagMax + 1)
  const pairs = new Float64Array(lagMax + 1)
  for (let lag = 0; lag <= lagMax; lag++) {
    products[lag] = (spectrum[2 * lag] as number) / size
    pairs[lag] = values.length - lag
  }
  return { products, pairs }
}

/**
 * With gaps: one complex transform of d + i·m is split by symmetry into X and M; the transform of |X|² + i·|M|² holds
 * the sums of products in its real and the pair counts in its imaginary part, since both powers are even in k.
 */
function maskedSums(values: Float64Array, lagMax: number, { mean, deviation }: ObservedSpread): LagSums {
  const size = transformSize(values.length + lagMax)
  const plan = fftPlan(size)
  const { input, output: spectrum } = plan
  input.fill(0)
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (Number.isNaN(value)) continue
    // Divided by the standard deviation, both halves have one scale, and neither drowns in the other's rounding.
    input[2 * i] = (value - mean) / deviation
    input[2 * i + 1] = 1
  }
  plan.transform(spectrum, input)
  for (let k = 0; k <= size / 2; k++) {
    const mirror = k === 0 ? 0 : size - k
    const real = spectrum[2 * k] as number
    const imaginary = spectrum[2 * k + 1] as number
    const mirrorReal = spectrum[2 * mirror] as number
    const mirrorImaginary = spectrum[2 * mirror + 1] as number
    const power = ((real + mirrorReal) ** 2 + (imaginary - mirrorImaginary) ** 2) / 4
    const maskPower = ((imaginary + mirrorImaginary) ** 2 + (mirrorReal - real) ** 2) / 4
    input[2 * k] = power
    input[2 * k + 1] = maskPower
    input[2 * mirror] = power
    input[2 * mirror + 1] = maskPower
  }
  plan.transform(spectrum, input)
  const products = new Float64Array(lagMax + 1)
  const pairs = new Float64Array(lagMax + 1)
  for (let lag = 0; lag <= lagMax; lag++) {
    products[lag] = (spectrum[2 * lag] as number) / size
    pairs[lag] = Math.round((spectrum[2 * lag + 1] as number) / size)
  }
  return { products, pairs }
}
