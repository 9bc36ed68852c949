/** Which cycles are overtones of another: a daily cycle that is no pure sine also shows 12, 8 and 6 hours. */

const tolerance = 0.01
/** Longer cycles claim no overtones: every day is a fraction of every week. */
const fundamentalHoursMax = 30

/** Half the width of a peak, in 1/T: a cycle that is nearer to another frequency than this is not told from it. */
export const distanceMax = 0.5

interface Cycle {
  readonly periodHours: number
  readonly power: number
}

/**
 * By place: the period of the strongest longer cycle of at most 30 h of which this one is an integer fraction within
 * 1 %, or null.
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

/** How often a day holds a cycle that fits in so many times in so many days, when that is a whole number as near as the span can tell; else null. */
export function harmonicOfDay(cycles: number, days: number): number | null {
  const perDay = Math.round(cycles / days)
  return perDay >= 1 && Math.abs(cycles - perDay * days) <= distanceMax ? perDay : null
}
