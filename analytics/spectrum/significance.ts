/** Decides whether a spectral peak is a cycle rather than noise, and large enough for the sensor. */

import { significantRatio } from './peak-bins.ts'

/** Fractions of a day at which cycles may be smaller than a step of the sensor, such as the tides of the air. */
const dayFractionsMax = 4
/** A clock that is a second off makes cycles of minutes in smooth series. The tides are stronger. */
const powerMin = 0.005
/** In 1/T, half the main lobe of the Hann window. */
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
