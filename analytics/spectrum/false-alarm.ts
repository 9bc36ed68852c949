/**
 * The probability that white noise has a Lomb–Scargle power of z or more anywhere up to a frequency (Baluev 2008, the
 * bound that astropy calls `baluev`). For red noise it is nearly meaningless, so it is reported but never decides.
 */

import { logGamma } from '../special-functions.ts'
import { momentsOf } from '../summary/moments.ts'

/** The moments of a series' observed times, in any unit. */
export interface ObservedTimes {
  readonly observed: number
  /** Population variance, in that unit squared. */
  readonly variance: number
  /** From the first time to the last. */
  readonly span: number
}

/** Astropy's default number of frequencies per width of a peak. */
const samplesPerPeak = 5

/**
 * `power`: z in 0 … 1, normalised as `standard`. `frequencyMax`: in cycles per unit of the times. Below about 1e-300
 * the answer is 0; NaN with fewer than five values.
 */
export function falseAlarmProbability(power: number, times: ObservedTimes, frequencyMax: number): number {
  const n = times.observed
  if (!(n >= 5)) return Number.NaN
  const logRest = Math.log1p(-Math.min(1, power))
  const gamma = Math.sqrt(2 / (n - 1)) * Math.exp(logGamma((n - 1) / 2) - logGamma((n - 2) / 2))
  const width = searchedFrequencyMax(times.span, frequencyMax) * Math.sqrt(4 * Math.PI * times.variance)
  const tau = gamma * width * Math.exp(((n - 4) / 2) * logRest) * Math.sqrt(((n - 1) * power) / 2)
  const single = Math.exp(((n - 3) / 2) * logRest)
  // 1 − (1 − single)·e^(−τ), written so that it does not underflow to 0 where both are small.
  return -Math.expm1(-tau) + single * Math.exp(-tau)
}

export function observedTimes(values: Float64Array): ObservedTimes {
  let observed = 0
  let first = 0
  let last = 0
  let sum = 0
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i] as number)) continue
    if (observed++ === 0) first = i
    last = i
    sum += i
  }
  const mean = sum / observed
  let squares = 0
  for (let i = first; i <= last; i++) if (!Number.isNaN(values[i] as number)) squares += (i - mean) * (i - mean)
  return { observed, variance: squares / observed, span: last - first }
}

/** Takes ascending times. */
export function momentsOfTimes(times: Float64Array): ObservedTimes {
  const { count, std, min, max } = momentsOf(times)
  return { observed: count, variance: (std * std * (count - 1)) / count, span: max - min }
}

/** The last frequency of astropy's grid, starting at half a step. Its bound assumes that grid. */
function searchedFrequencyMax(span: number, frequencyMax: number): number {
  const step = 1 / span / samplesPerPeak
  return step / 2 + step * roundHalfToEven((frequencyMax - step / 2) / step)
}

function roundHalfToEven(value: number): number {
  const below = Math.floor(value)
  return value - below === 0.5 ? below + (below % 2) : Math.round(value)
}
