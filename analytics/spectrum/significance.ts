/** Whether a spectral peak is a cycle and not noise, and moves the sensor enough to be measured. */

import { significantRatio } from './peak-bins.ts'

/** Of a day: of these whole fractions there may be cycles smaller than a step of the sensor, as the tides of the air are. */
const dayFractionsMax = 4
/** A clock that is a second off has cycles of minutes in what is otherwise smooth; the tides are kept. */
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
  /** Found by the signs of the days, whatever its `snr`. */
  readonly isOfDays?: boolean
}

/** What the sensor's steps make of a slow curve. */
export interface SensorSteps {
  /** The smallest step, 0 while it is not known. */
  readonly quantum: number
  /** How many of them the line that was taken away passes in the span. */
  readonly passed: number
}

/** `slope`: of the line, over one of `cells`. */
export function sensorSteps(quantum: number, slope: number, cells: number): SensorSteps {
  return { quantum, passed: quantum === 0 ? 0 : (Math.abs(slope) * cells) / quantum }
}

/** Of the amplitude of a cycle of steps: as the values do not fall quite evenly, it may be fitted somewhat larger. */
const stepsMargin = 1.25

/**
 * `days`: the span, undefined where the series knows no day. A slow curve that is shown in whole steps has an edge at each of
 * them, whose cycles are no larger than half a step. They are at 24/k h by chance alone, but where steps come once a day.
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

/** A line in whole steps is off by a sawtooth, whose k-th harmonic has an amplitude of quantum/(kπ). */
function isOfSteps({ amplitude, cycles }: FoundPeak, { quantum, passed }: SensorSteps): boolean {
  const harmonic = Math.round(cycles / passed)
  if (passed === 0 || harmonic < 1) return false
  const isNear = Math.abs(cycles - harmonic * passed) <= nearCycles
  return isNear && amplitude <= (stepsMargin * quantum) / (harmonic * Math.PI)
}
