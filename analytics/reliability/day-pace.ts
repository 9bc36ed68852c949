/**
 * At which pace an irregular device reports at each hour of the day: one that has much to tell in the daytime is not silent
 * when nothing comes for an hour at night. Hours are those of UTC, as no zone is known here; a change of the clocks shifts
 * them by one for some weeks.
 */

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const hours = 24
const daysMin = 7
const readingsMin = 240
/** Between the hours with most and least readings. */
const ratioMin = 3
/** The 99.9 % point of χ² with 23 degrees of freedom, for the dispersion of counts that have one mean. */
const dispersionMin = 49.728
/** An hour in which nothing came may have had something. */
const countAdded = 0.5

/** Paces by UTC hour, 1 on average; null where the hours do not differ by more than chance, or too few are known. */
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

/** 0 … 23. */
function hourOf(timeMs: number): number {
  const hour = Math.floor(timeMs / hourMs) % hours
  return hour < 0 ? hour + hours : hour
}

/**
 * Ascending times on a clock that goes at the device's pace, on which its intervals are alike at all hours. It agrees with
 * the other clock at every midnight.
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

/** How long a silence that begins at this moment is by a wall clock, when the device's clock has gone on by `pacedMs`. */
export function wallMsOf(pacedMs: number, startMs: number, pace: readonly number[]): number {
  let hour = hourOf(startMs)
  let partMs = hourMs - (startMs - Math.floor(startMs / hourMs) * hourMs)
  // On both clocks a whole day is one.
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
