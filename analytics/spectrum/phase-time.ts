/** When in the local day a cycle is at its highest, for cycles that come a whole number of times a day. */

import type { Sinusoid } from './lomb-scargle.ts'

const hoursPerDay = 24
const tolerance = 0.02

/** How often a day holds this period, when that is a whole number within 0.02; else null. */
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

/** The moment of a place on the grid, where a whole number is the middle of a cell. */
export function cellMiddleMs(cell: number, frame: { readonly startMs: number; readonly stepMs: number }): number {
  return frame.startMs + (cell + 0.5) * frame.stepMs
}
