/** Means of the days of a series of hours. */

const hoursPerDay = 24
/** As of a daily mean by the WMO's rule. */
export const hoursOfDayMin = 18

/** Of each 24 hours, the last of which ends with the series, that have at least 18 values; with their numbers. */
export function dayMeans(hourly: Float64Array): { numbers: Float64Array; means: Float64Array } {
  const numbers: number[] = []
  const means: number[] = []
  const first = hourly.length % hoursPerDay
  for (let start = first; start < hourly.length; start += hoursPerDay) {
    const day = hourly.subarray(start, start + hoursPerDay).filter(value => !Number.isNaN(value))
    if (day.length < hoursOfDayMin) continue
    numbers.push((start - first) / hoursPerDay)
    means.push(day.reduce((sum, value) => sum + value, 0) / day.length)
  }
  return { numbers: Float64Array.from(numbers), means: Float64Array.from(means) }
}
