/** The level of each day, corrected for the missing hours' part of the daily cycle. */

import { dayMeans } from '../decomposition/day-means.ts'
import { hourOfDayRemoved } from '../decomposition/deseasonalise.ts'
import { hampelClean } from '../quality/hampel.ts'
import { momentsOf } from '../summary/moments.ts'

export interface DailyLevels {
  /** Indexes of the days, ascending. The first day of the series is 0. */
  readonly days: Float64Array
  readonly means: Float64Array
}

/** Days as in `dayMeans`. `hourly`: NaN where missing; `localHours`: 0 … 23 for each cell. */
export function dailyLevels(hourly: Float64Array, localHours: Uint8Array): DailyLevels {
  // A few wild hours in a month would otherwise shift the means of their days.
  const clean = hampelClean(hourly)
  const { numbers, means } = dayMeans(hourOfDayRemoved(clean, localHours))
  // Back to the unit's level: users know 21 °C, not 0.3 K above the mean.
  const { mean } = momentsOf(clean)
  return { days: numbers, means: means.map(one => one + mean) }
}
