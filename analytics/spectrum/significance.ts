/** Decides whether a spectral peak is a cycle rather than noise, by its bins and the rate of false alarms. */

import { logGamma } from '../special-functions.ts'
import { momentsOf } from '../summary/moments.ts'
import type { Background } from './background.ts'
import { isLocalMaximum, parabolaVertex, type Spectrum } from './periodogram.ts'

/** Fractions of a day at which cycles may be smaller than a step of the sensor, such as the tides of the air. */
const dayFractionsMax = 4
/** A clock that is a second off makes cycles of minutes in smooth series. The tides are stronger. */
const powerMin = 0.005
/** Half the main lobe of the Hann window, in 1/T. */
const nearCycles = 1

export interface FoundPeak {
  /** Power over the local background. */
  readonly snr: number
  readonly amplitude: number
  /** Share of the variance. */
  readonly power: number
  /** Cycles within the span. */
  readonly cycles: number
  /** Found by the signs of the days, regardless of its `snr`. */
  readonly isOfDays?: boolean
}

/** The effect of the sensor's steps on a slow curve. */
export interface SensorSteps {
  /** The resolution, 0 while unknown. */
  readonly quantum: number
  /** The number of steps that the removed line passes in the span. */
  readonly passed: number
}

/** `slope` is the line's slope, over one of `cells`. */
export function sensorSteps(quantum: number, slope: number, cells: number): SensorSteps {
  return { quantum, passed: quantum === 0 ? 0 : (Math.abs(slope) * cells) / quantum }
}

/**
 * Relative to the amplitude of a cycle of steps: as the values do not fall quite evenly, the fit may be somewhat
 * larger.
 */
const stepsMargin = 1.25

/**
 * `days`: the span, undefined where the series has no day. A slow curve in whole steps has an edge at each of them,
 * with cycles of at most half a step. They are at 24/k h only by chance, unless steps come once a day.
 */
export function isSignificant(
  peak: FoundPeak,
  { steps, days }: { readonly steps: SensorSteps; readonly days: number | undefined },
): boolean {
  const { snr, amplitude, cycles, power, isOfDays = false } = peak
  if (!isOfDays && snr < significantRatio) return false
  if (amplitude >= steps.quantum / 2 && power >= powerMin) return true
  return days !== undefined && isOfDay(cycles, days) && (amplitude >= steps.quantum / 2 || !isOfSteps(peak, steps))
}

function isOfDay(cycles: number, days: number): boolean {
  const perDay = Math.round(cycles / days)
  return perDay >= 1 && perDay <= dayFractionsMax && Math.abs(cycles - perDay * days) <= nearCycles
}

/** A line in whole steps deviates by a sawtooth, whose k-th harmonic has an amplitude of quantum/(kπ). */
function isOfSteps({ amplitude, cycles }: FoundPeak, { quantum, passed }: SensorSteps): boolean {
  const harmonic = Math.round(cycles / passed)
  if (passed === 0 || harmonic < 1) return false
  const isNear = Math.abs(cycles - harmonic * passed) <= nearCycles
  return isNear && amplitude <= (stepsMargin * quantum) / (harmonic * Math.PI)
}

/** Four, and a little less for a noisy cycle that fits in exactly four times. */
export const cyclesMin = 3.95
/** Minimum ratio of a cycle's power to the background. */
const significantRatio = 20
/** The screen's background may lie this much above the true one. */
const screenRatio = significantRatio / 2
/**
 * z follows P except for gaps and the window, which weights the middle of the series more than its ends. So only
 * candidates with at least this share of their largest P are compared by z.
 */
const rivalShare = 0.1
const rivalsMax = 8
/** Slightly more than half the width of the Hann window's main lobe, in 1/T: closer cycles cannot be distinguished. */
const lobeCycles = 2.5

/** True if one of two frequencies is within the main lobe of the other. */
export function isNear(a: number, b: number, cells: number): boolean {
  return Math.abs(a - b) * cells <= lobeCycles
}

/** The bins that may have the largest z where none stands out: local maxima with nearly the largest P. */
export function strongBins(spectrum: Spectrum): number[] {
  const { power } = spectrum
  const from = Math.max(1, Math.floor(lowestBin(spectrum)))
  const strong: number[] = []
  let largest = 0
  for (let bin = from; bin < power.length - 1; bin++) {
    const value = power[bin] as number
    if (value < rivalShare * largest || !isLocalMaximum(power, bin) || !isCycle(spectrum, bin)) continue
    largest = Math.max(largest, value)
    strong.push(bin)
  }
  return strong
    .filter(bin => (power[bin] as number) >= rivalShare * largest)
    .sort((a, b) => (power[b] as number) - (power[a] as number))
    .slice(0, rivalsMax)
}

/**
 * The bins that stand out, largest P first, outside the main lobes of earlier cycles, where only their changes in
 * strength remain.
 */
export function standingOut(
  spectrum: Spectrum,
  background: Background,
  removedFrequencies: readonly number[],
): number[] {
  const { power, size, cells } = spectrum
  const byPower = background
    .standingOut(Math.floor(lowestBin(spectrum)), screenRatio)
    .filter(bin => isCycle(spectrum, bin))
    .filter(bin => !removedFrequencies.some(frequency => isNear(bin / size, frequency, cells)))
    .sort((a, b) => (power[b] as number) - (power[a] as number))
  const chosen: number[] = []
  let powerMin = 0
  for (const bin of byPower) {
    const value = power[bin] as number
    if (chosen.length >= rivalsMax || value < powerMin) break
    if (!(value >= significantRatio * background.at(bin))) continue
    chosen.push(bin)
    powerMin ||= rivalShare * value
  }
  return chosen
}

/** The bin of the slowest searched cycle. */
function lowestBin({ size, cells }: Spectrum): number {
  return (cyclesMin * size) / cells
}

function isCycle(spectrum: Spectrum, bin: number): boolean {
  const lowest = lowestBin(spectrum)
  return bin > lowest + 1 || parabolaVertex(spectrum, bin) >= lowest
}

/** The moments of a series' observed times, in any unit. */
interface ObservedTimes {
  readonly observed: number
  /** Population variance, in that unit squared. */
  readonly variance: number
  /** Time from the first to the last. */
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
