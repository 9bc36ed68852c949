/** Whether a series misses values at the same time of day again and again, as of a device that sleeps at night. */

const hoursOfDay = 24
const daysMin = 3
/** Between the hours of the day with the most and the least missing cells. */
const shareDifferenceMin = 0.3

/** `values`: cells in order, NaN where missing. `cellsPerDay`: a multiple or a whole fraction of 24. */
export function hasRecurringHole(values: Float64Array, cellsPerDay: number): boolean {
  if (values.length < daysMin * cellsPerDay) return false
  const slots = Math.min(hoursOfDay, cellsPerDay)
  const missing = new Float64Array(slots)
  const cells = new Float64Array(slots)
  const cellsPerSlot = cellsPerDay / slots
  for (let i = 0; i < values.length; i++) {
    const hour = Math.floor((i % cellsPerDay) / cellsPerSlot)
    ;(cells[hour] as number)++
    if (Number.isNaN(values[i] as number)) (missing[hour] as number)++
  }
  const shares = missing.map((count, hour) => count / (cells[hour] as number))
  return Math.max(...shares) - Math.min(...shares) >= shareDifferenceMin
}
