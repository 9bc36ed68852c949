/** When in the local day a cycle is at its highest, for cycles that come a whole number of times a day. */

const hoursPerDay = 24
const tolerance = 0.02

/** Whether 24 h hold a whole number of these periods, within 0.02. */
export function repeatsDaily(periodHours: number): boolean {
  const perDay = hoursPerDay / periodHours
  const whole = Math.round(perDay)
  return whole >= 1 && Math.abs(perDay - whole) < tolerance
}

/** The moment of a place on the grid, where a whole number is the middle of a cell. */
export function cellMiddleMs(cell: number, frame: { readonly startMs: number; readonly stepMs: number }): number {
  return frame.startMs + (cell + 0.5) * frame.stepMs
}
