/**
 * The pace of an irregular device at each hour of the day: a device with many readings in the daytime is not silent
 * when none comes for an hour at night. Hours are UTC, because the zone is unknown here. A change of the clocks shifts
 * them by one for some weeks.
 */

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const hours = 24
const daysMin = 7
const readingsMin = 240
/** Ratio between the hours with most and least readings. */
const ratioMin = 3
/** The 99.9 % point of χ² with 23 degrees of freedom, for the dispersion of counts with one mean. */
const dispersionMin = 49.728
/** An empty hour may have had readings. */
const countAdded = 0.5

/** Paces by UTC hour, 1 on average; null where the hours do not differ significantly, or too few are known. */
export function dayPace(timesMs: Float64Array): number[] | null {
  const spanMs = (timesMs.at(-1) ?? 0) - (timesMs[0] ?? 0)
  if (timesMs.length < readingsMin || spanMs < daysMin * dayMs) return null
  const counts = new Float64Array(hours).fill(countAdded)
  for (let index = 0; index < timesMs.length; index++) {
    ;(counts[hourOf(timesMs[index] as number)] as number)++
  }
  const mean = counts.reduce((sum, count) => sum + count, 0) / hours
  const dispersion = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / mean
  const isEven = dispersion < dispersionMin || Math.max(...counts) < ratioMin * Math.min(...counts)
  return isEven ? null : Array.from(counts, count => count / mean)
}

/** Returns 0 … 23. */
function hourOf(timeMs: number): number {
  const hour = Math.floor(timeMs / hourMs) % hours
  return hour < 0 ? hour + hours : hour
}

/**
 * Ascending times on a clock that runs at the device's pace, on which its intervals are alike at all hours. Both clocks
 * agree at every midnight.
 */
export function atPace(timesMs: Float64Array, pace: readonly number[]): Float64Array {
  const starts = new Float64Array(hours + 1)
  for (let hour = 0; hour < hours; hour++) starts[hour + 1] = (starts[hour] as number) + (pace[hour] as number) * hourMs
  return timesMs.map(timeMs => {
    const midnightMs = Math.floor(timeMs / dayMs) * dayMs
    const hour = hourOf(timeMs)
    const intoHourMs = timeMs - midnightMs - hour * hourMs
    return midnightMs + (starts[hour] as number) + (pace[hour] as number) * intoHourMs
  })
}

/** Wall-clock length of a silence that begins at this moment and lasts `pacedMs` on the device's clock. */
export function wallMsOf(pacedMs: number, startMs: number, pace: readonly number[]): number {
  let hour = hourOf(startMs)
  let partMs = hourMs - (startMs - Math.floor(startMs / hourMs) * hourMs)
  // A whole day is equally long on both clocks.
  let leftMs = pacedMs % dayMs
  let wallMs = pacedMs - leftMs
  for (let parts = 0; parts <= hours; parts++) {
    const hourPace = pace[hour] as number
    if (leftMs <= hourPace * partMs) return wallMs + leftMs / hourPace
    leftMs -= hourPace * partMs
    wallMs += partMs
    partMs = hourMs
    hour = (hour + 1) % hours
  }
  return wallMs
}
