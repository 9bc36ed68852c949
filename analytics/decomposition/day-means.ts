/** Daily means of a series of hours. */

const hoursPerDay = 24
/** Required by the WMO's rule for a daily mean. */
export const hoursOfDayMin = 18

/** Means and numbers of the 24-hour stretches with at least 18 values. The last one ends with the series. */
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
