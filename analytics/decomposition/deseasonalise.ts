/**
 * The mean of each local hour of day, and a series without it: the part that two series share beyond their daily
 * profile.
 */

const hoursOfDay = 24

/** Means of hours 0 … 23 over the observed cells (`localHours` by cell); NaN for an hour without any. */
export function hourOfDayMeans(values: Float64Array, localHours: Uint8Array): Float64Array {
  const sums = new Float64Array(hoursOfDay)
  const counts = new Float64Array(hoursOfDay)
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (Number.isNaN(value)) continue
    const hour = localHours[i] as number
    sums[hour] = (sums[hour] as number) + value
    counts[hour] = (counts[hour] as number) + 1
  }
  return sums.map((sum, hour) => sum / (counts[hour] as number))
}

/** The series minus the mean of its hour of day; NaN stays NaN. */
export function hourOfDayRemoved(values: Float64Array, localHours: Uint8Array): Float64Array {
  const means = hourOfDayMeans(values, localHours)
  const rest = new Float64Array(values.length)
  for (let i = 0; i < rest.length; i++) {
    rest[i] = (values[i] as number) - (means[localHours[i] as number] as number)
  }
  return rest
}

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
