/** The level of each day, without what the hours that are missing on it would make of the daily cycle. */

import { hourOfDayRemoved } from '../decomposition/deseasonalise.ts'

const hoursPerDay = 24
/** As of a daily mean by the WMO's rule. */
const hoursOfDayMin = 18

export interface DailyLevels {
  /** Places of the days, ascending, the first day of the series being 0. */
  readonly days: Float64Array
  readonly means: Float64Array
}

/**
 * Means of each 24 hours, the last of which ends with the series, that have at least 18 values. `hourly`: NaN where
 * missing; `localHours`: 0 … 23 by cell.
 */
export function dailyLevels(hourly: Float64Array, localHours: Uint8Array): DailyLevels {
  const rest = hourOfDayRemoved(hourly, localHours)
  const days: number[] = []
  const means: number[] = []
  let offset = 0
  let observed = 0
  const first = hourly.length % hoursPerDay
  for (let start = first; start < hourly.length; start += hoursPerDay) {
    let sum = 0
    let count = 0
    for (let hour = start; hour < start + hoursPerDay; hour++) {
      const value = rest[hour] as number
      if (Number.isNaN(value)) continue
      sum += value
      count++
      offset += hourly[hour] as number
      observed++
    }
    if (count < hoursOfDayMin) continue
    days.push((start - first) / hoursPerDay)
    means.push(sum / count)
  }
  // Back to the unit's level: a person knows 21 °C, not 0.3 K above the mean.
  const level = observed === 0 ? 0 : offset / observed
  return { days: Float64Array.from(days), means: Float64Array.from(means, mean => mean + level) }
}
