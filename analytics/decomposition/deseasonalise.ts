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
