/** The level of each day, without what the hours that are missing on it would make of the daily cycle. */

import { dayMeans } from '../decomposition/day-means.ts'
import { hourOfDayRemoved } from '../decomposition/deseasonalise.ts'
import { hampelClean } from '../quality/hampel.ts'
import { momentsOf } from '../summary/moments.ts'

export interface DailyLevels {
  /** Places of the days, ascending, the first day of the series being 0. */
  readonly days: Float64Array
  readonly means: Float64Array
}

/** As `dayMeans`. `hourly`: NaN where missing; `localHours`: 0 … 23 by cell. */
export function dailyLevels(hourly: Float64Array, localHours: Uint8Array): DailyLevels {
  // Of a few wild hours in a month the mean of their days would make a level.
  const clean = hampelClean(hourly)
  const { numbers, means } = dayMeans(hourOfDayRemoved(clean, localHours))
  // Back to the unit's level: a person knows 21 °C, not 0.3 K above the mean.
  const { mean } = momentsOf(clean)
  return { days: numbers, means: means.map(one => one + mean) }
}
