/**
 * Floating-mean Lomb–Scargle power (Zechmeister & Kürster 2009): the share z of the variance that the best sinusoid of
 * a frequency with a free constant explains, 0 … 1. Astropy's `LombScargle(t, x).power(f)`, normalisation `standard`,
 * `fit_mean`, method `slow`. Weights replace its 1/dy².
 */

/** After this many steps of the rotation, sine and cosine are recomputed: rounding stays near 1e-13. */
const rotationSteps = 1024

/** A series prepared for the sums. */
export interface ObservedSeries {
  readonly cells: number
  /** Weight times (value − weighted mean); 0 where missing. */
  readonly centred: Float64Array
  /** 1, or the given weight; 0 where missing. */
  readonly weights: Float64Array
  readonly weightSum: number
  readonly mean: number
  /** Σ of weight times (value − mean)². */
  readonly squares: number
}

/** The best x(t) = offset + cosine·cos(2πft) + sine·sin(2πft). On a grid t counts cells from cell 0. */
export interface Sinusoid {
  readonly frequency: number
  /** z, the share of variance explained. */
  readonly power: number
  readonly cosine: number
  readonly sine: number
  readonly offset: number
}

/** Buffers for a series. The next user overwrites them, and has as many cells. */
export type SeriesRoom = Pick<ObservedSeries, 'centred' | 'weights'>

export function createSeriesRoom(cells: number): SeriesRoom {
  // One cell without weight makes the length even, for sums that take two at a time.
  const length = cells + (cells % 2)
  return { centred: new Float64Array(length), weights: new Float64Array(length) }
}

/**
 * `values`: cells in order, NaN where missing. `window`: a weight for each cell; by default every observed cell weighs
 * 1. `room`: buffers for this number of cells.
 */
export function observedSeries(
  values: Float64Array,
  window?: Float64Array,
  room = createSeriesRoom(values.length),
): ObservedSeries {
  const { centred, weights } = room
  let sum = 0
  let weightSum = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    const weight = Number.isNaN(value) ? 0 : window === undefined ? 1 : (window[i] as number)
    weights[i] = weight
    if (weight === 0) continue
    sum += weight * value
    weightSum += weight
  }
  const mean = sum / weightSum
  let squares = 0
  for (let i = 0; i < values.length; i++) {
    const weight = weights[i] as number
    const distance = weight === 0 ? 0 : (values[i] as number) - mean
    centred[i] = weight * distance
    squares += weight * distance * distance
  }
  return { cells: values.length, centred, weights, weightSum, mean, squares }
}

/**
 * The sinusoid of a frequency in cycles a cell. O(n), sine and cosine by rotation. Even and odd cells rotate
 * separately: a rotation depends on the one before it, so two run in parallel.
 */
export function fitSinusoid(series: ObservedSeries, frequency: number): Sinusoid {
  const { centred, weights } = series
  const turn = 2 * Math.PI * frequency
  const stepCosine = Math.cos(2 * turn)
  const stepSine = Math.sin(2 * turn)
  const sums = { c: 0, s: 0, cc: 0, cs: 0, yc: 0, ys: 0 }
  for (let start = 0; start < centred.length; start += rotationSteps) {
    const angle = 2 * Math.PI * ((frequency * start) % 1)
    let cosine = Math.cos(angle)
    let sine = Math.sin(angle)
    let oddCosine = Math.cos(angle + turn)
    let oddSine = Math.sin(angle + turn)
    const end = Math.min(start + rotationSteps, centred.length)
    let c = 0
    let s = 0
    let cc = 0
    let cs = 0
    let yc = 0
    let ys = 0
    for (let i = start; i < end; i += 2) {
      const y = centred[i] as number
      const oddY = centred[i + 1] as number
      const weightedCosine = (weights[i] as number) * cosine
      const weightedSine = (weights[i] as number) * sine
      const oddWeight = weights[i + 1] as number
      const oddWeightedCosine = oddWeight * oddCosine
      c += weightedCosine + oddWeightedCosine
      s += weightedSine + oddWeight * oddSine
      cc += weightedCosine * cosine + oddWeightedCosine * oddCosine
      cs += weightedCosine * sine + oddWeightedCosine * oddSine
      yc += y * cosine + oddY * oddCosine
      ys += y * sine + oddY * oddSine
      const next = cosine * stepCosine - sine * stepSine
      sine = sine * stepCosine + cosine * stepSine
      cosine = next
      const oddNext = oddCosine * stepCosine - oddSine * stepSine
      oddSine = oddSine * stepCosine + oddCosine * stepSine
      oddCosine = oddNext
    }
    sums.c += c
    sums.s += s
    sums.cc += cc
    sums.cs += cs
    sums.yc += yc
    sums.ys += ys
  }
  return solve(sums, frequency, series)
}

/**
 * The same for single moments in any unit, with t the time since the first of them; `frequency` is in cycles per unit.
 * `series` has one value for each, none missing.
 */
function fitSinusoidAtTimes(times: Float64Array, series: ObservedSeries, frequency: number): Sinusoid {
  const first = times[0] as number
  let c = 0
  let s = 0
  let cc = 0
  let cs = 0
  let yc = 0
  let ys = 0
  for (let i = 0; i < times.length; i++) {
    const angle = 2 * Math.PI * ((frequency * ((times[i] as number) - first)) % 1)
    const cosine = Math.cos(angle)
    const sine = Math.sin(angle)
    const y = series.centred[i] as number
    c += cosine
    s += sine
    cc += cosine * cosine
    cs += cosine * sine
    yc += y * cosine
    ys += y * sine
  }
  return solve({ c, s, cc, cs, yc, ys }, frequency, series)
}

/**
 * The series without a fitted sinusoid, its offset included; NaN stays NaN. The output array `rest` may be the series.
 */
export function withoutSinusoid(
  values: Float64Array,
  { frequency, cosine, sine, offset }: Sinusoid,
  rest: Float64Array = new Float64Array(values.length),
): Float64Array {
  const stepCosine = Math.cos(2 * Math.PI * frequency)
  const stepSine = Math.sin(2 * Math.PI * frequency)
  for (let start = 0; start < values.length; start += rotationSteps) {
    const angle = 2 * Math.PI * ((frequency * start) % 1)
    let c = Math.cos(angle)
    let s = Math.sin(angle)
    const end = Math.min(start + rotationSteps, values.length)
    for (let i = start; i < end; i++) {
      rest[i] = (values[i] as number) - offset - cosine * c - sine * s
      const next = c * stepCosine - s * stepSine
      s = s * stepCosine + c * stepSine
      c = next
    }
  }
  return rest
}

/** The same for single moments, without a missing value. */
function withoutSinusoidAtTimes(
  times: Float64Array,
  values: Float64Array,
  { frequency, cosine, sine, offset }: Sinusoid,
  rest: Float64Array,
): Float64Array {
  const first = times[0] as number
  for (let i = 0; i < times.length; i++) {
    const angle = 2 * Math.PI * ((frequency * ((times[i] as number) - first)) % 1)
    rest[i] = (values[i] as number) - offset - cosine * Math.cos(angle) - sine * Math.sin(angle)
  }
  return rest
}

interface TrigonometricSums {
  readonly c: number
  readonly s: number
  readonly cc: number
  readonly cs: number
  readonly yc: number
  readonly ys: number
}

/** The normal equations of cosine, sine and constant, with the constant eliminated. The values have mean 0. */
function solve(sums: TrigonometricSums, frequency: number, { weightSum, squares, mean }: ObservedSeries): Sinusoid {
  const c = sums.c / weightSum
  const s = sums.s / weightSum
  const cc = sums.cc / weightSum - c * c
  const ss = 1 - sums.cc / weightSum - s * s
  const cs = sums.cs / weightSum - c * s
  const yc = sums.yc / weightSum
  const ys = sums.ys / weightSum
  const determinant = cc * ss - cs * cs
  // At frequency 0 or half a cycle a step, sine or cosine is constant and the coefficients are undetermined.
  if (!(determinant > 1e-12 && squares > 0)) return { frequency, power: 0, cosine: 0, sine: 0, offset: mean }
  const cosine = (yc * ss - ys * cs) / determinant
  const sine = (ys * cc - yc * cs) / determinant
  const power = ((yc * cosine + ys * sine) * weightSum) / squares
  return { frequency, power, cosine, sine, offset: mean - cosine * c - sine * s }
}

export interface Sampling {
  /** 1/T, T being the span: the main lobe of a cycle ends this far beside its frequency. */
  readonly resolution: number
  /** Fits sinusoids of any frequency to these values; valid until the next call. */
  fitter(values: Float64Array): (frequency: number) => Sinusoid
  /** The values minus a sinusoid. The output array `rest` may be the values. */
  without(values: Float64Array, sinusoid: Sinusoid, rest: Float64Array): Float64Array
}

/** Values by cell, NaN where missing; frequencies in cycles a cell. */
export function gridSampling(cells: number, room = createSeriesRoom(cells)): Sampling {
  return {
    resolution: 1 / cells,
    fitter(values) {
      const series = observedSeries(values, undefined, room)
      return frequency => fitSinusoid(series, frequency)
    },
    without: withoutSinusoid,
  }
}

/** Values at ascending times in any unit, without missing ones; frequencies in cycles per unit. */
export function timesSampling(times: Float64Array): Sampling {
  return {
    resolution: 1 / ((times.at(-1) ?? 0) - (times[0] ?? 0)),
    fitter(values) {
      const series = observedSeries(values)
      return frequency => fitSinusoidAtTimes(times, series, frequency)
    },
    without: (values, sinusoid, rest) => withoutSinusoidAtTimes(times, values, sinusoid, rest),
  }
}
