/**
 * Finds cycles that are overtones of another: a daily cycle with a shape other than a sine also shows 12, 8 and 6
 * hours.
 */

import type { Sinusoid } from './lomb-scargle.ts'

const tolerance = 0.01
/** Longer cycles have no overtones here: every day is a fraction of every week. */
const fundamentalHoursMax = 30

/** Half the width of a peak, in 1/T: closer frequencies cannot be distinguished. */
export const distanceMax = 0.5

interface Cycle {
  readonly periodHours: number
  readonly power: number
}

/**
 * One entry for each cycle: the period of the strongest longer cycle of at most 30 h that is a multiple of its period
 * within 1 %, or null.
 */
export function harmonicsOf(cycles: readonly Cycle[]): (number | null)[] {
  return cycles.map(({ periodHours }) => {
    let best: Cycle | undefined
    for (const other of cycles) {
      if (other.periodHours > fundamentalHoursMax) continue
      const ratio = other.periodHours / periodHours
      const whole = Math.round(ratio)
      const isFraction = whole >= 2 && Math.abs(ratio / whole - 1) <= tolerance
      if (isFraction && (best === undefined || other.power > best.power)) best = other
    }
    return best?.periodHours ?? null
  })
}

/**
 * Returns the times per day that a cycle recurs which fits `cycles` times into `days`, if that is a whole number within the
 * resolution of the span; else null.
 */
export function harmonicOfDay(cycles: number, days: number): number | null {
  const perDay = Math.round(cycles / days)
  return perDay >= 1 && Math.abs(cycles - perDay * days) <= distanceMax ? perDay : null
}

const hoursPerDay = 24
const wholeTolerance = 0.02

/** Returns the number of these periods in a day, if that is a whole number within 0.02; else null. */
export function timesADay(periodHours: number): number | null {
  const perDay = hoursPerDay / periodHours
  const whole = Math.round(perDay)
  return whole >= 1 && Math.abs(perDay - whole) < wholeTolerance ? whole : null
}

/** The maximum of a sinusoid that is nearest to a moment, both in the unit of its time. */
export function maximumNear({ frequency, cosine, sine }: Sinusoid, moment: number): number {
  const first = Math.atan2(sine, cosine) / (2 * Math.PI * frequency)
  return first + Math.round((moment - first) * frequency) / frequency
}

/** The moment of an index on the grid, where a whole number is the middle of a cell. */
export function cellMiddleMs(cell: number, frame: { readonly startMs: number; readonly stepMs: number }): number {
  return frame.startMs + (cell + 0.5) * frame.stepMs
}
