/** Whether a spectral peak is a cycle and not noise, and moves the sensor enough to be measured. */

import { significantRatio } from './peak-bins.ts'

/** Of a day: of these whole fractions there may be cycles smaller than a step of the sensor, as the tides of the air are. */
const dayFractionsMax = 4
/** In 1/T, half the main lobe of the Hann window. */
const nearCycles = 1

export interface FoundPeak {
  /** Power over the local background. */
  readonly snr: number
  readonly amplitude: number
  /** Cycles within the span. */
  readonly cycles: number
}

/**
 * `quantum`: the sensor's smallest step; `days`: the span, undefined where the series knows no day. A slow curve that is shown
 * in whole steps has an edge at each of them, whose cycles are no larger than half a step. They are at 24/k h by chance alone.
 */
export function isSignificant(
  { snr, amplitude, cycles }: FoundPeak,
  { quantum, days }: { readonly quantum: number; readonly days: number | undefined },
): boolean {
  return snr >= significantRatio && (amplitude >= quantum / 2 || (days !== undefined && isOfDay(cycles, days)))
}

function isOfDay(cycles: number, days: number): boolean {
  const perDay = Math.round(cycles / days)
  return perDay >= 1 && perDay <= dayFractionsMax && Math.abs(cycles - perDay * days) <= nearCycles
}
