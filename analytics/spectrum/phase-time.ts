/** The time of the local day at which a cycle has its maximum, for cycles that recur a whole number of times a day. */

import type { Sinusoid } from './lomb-scargle.ts'

const hoursPerDay = 24
const tolerance = 0.02

/** How many times a day has this period, if that is a whole number within 0.02; else null. */
export function timesADay(periodHours: number): number | null {
  const perDay = hoursPerDay / periodHours
  const whole = Math.round(perDay)
  return whole >= 1 && Math.abs(perDay - whole) < tolerance ? whole : null
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
