/**
 * Profiles of a day and a week on the local clock. Readings are pooled by their hour. The repeated hour of the autumn
 * change shares one label. Reference: pandas `groupby(local hour)` with `mean` and `quantile`.
 */

import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { quantilesInPlace } from '../summary/quantile.ts'

/** Values are in the unit of the readings; null where the hour has none. */
export interface ProfileHour {
  /** Hour of the local clock, 0 … 23. */
  readonly hour: number
  readonly n: number
  readonly mean: number | null
  readonly median: number | null
  readonly p10: number | null
  readonly p90: number | null
}

const hoursPerWeek = 168
const weekMs = hoursPerWeek * 3_600_000
/** With fewer weeks, the mean of a weekday is unreliable. */
const weeksMin = 3

/** Returns 24 hours; `hours` is the local hour 0 … 23 of each reading, NaN a missing one. */
export function dailyProfile(values: Float64Array, hours: Uint8Array): ProfileHour[] {
  // A counting sort: first how many readings each hour has, then each hour's readings side by side.
  const ends = new Uint32Array(24)
  for (let index = 0; index < values.length; index++) {
    if (!Number.isNaN(values[index] as number)) (ends[hours[index] as number] as number)++
  }
  for (let hour = 1; hour < 24; hour++) (ends[hour] as number) += ends[hour - 1] as number
  const pooled = new Float64Array(ends[23] as number)
  const starts = ends.slice()
  for (let index = values.length - 1; index >= 0; index--) {
    const value = values[index] as number
    if (!Number.isNaN(value)) pooled[--(starts[hours[index] as number] as number)] = value
  }
  const profile = Array.from({ length: 24 }, (_, hour) => profileHour(hour, pooled.subarray(starts[hour], ends[hour])))
  detachBuffers([pooled])
  return profile
}

function profileHour(hour: number, values: Float64Array): ProfileHour {
  const n = values.length
  if (n === 0) return { hour, n, mean: null, median: null, p10: null, p90: null }
  const first = values[0] as number
  let sum = 0
  for (let index = 1; index < n; index++) sum += (values[index] as number) - first
  const [p10, median, p90] = quantilesInPlace(values, [0.1, 0.5, 0.9]) as [number, number, number]
  return { hour, n, mean: first + sum / n, median, p10, p90 }
}

/**
 * 7 × 24 means, Monday first, null where an hour has no reading; null as a whole when the window spans under 3 weeks.
 */
export function weeklyProfile(values: Float64Array, weekHours: Uint8Array, spanMs: number): (number | null)[][] | null {
  if (spanMs < weeksMin * weekMs) return null
  const sums = new Float64Array(hoursPerWeek)
  const counts = new Uint32Array(hoursPerWeek)
  // Distances from one of the values: pressures would lose digits in plain sums.
  const origin = values.find(value => !Number.isNaN(value)) ?? 0
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number
    if (Number.isNaN(value)) continue
    const hour = weekHours[index] as number
    sums[hour] = (sums[hour] as number) + (value - origin)
    counts[hour] = (counts[hour] as number) + 1
  }
  const means = Array.from(sums, (sum, hour) => (counts[hour] === 0 ? null : origin + sum / (counts[hour] as number)))
  return Array.from({ length: 7 }, (_, day) => means.slice(day * 24, (day + 1) * 24))
}

/** Hours of the day, within [0, 24), at which the mean is largest and smallest; null without any reading. */
export function extremeHours(profile: readonly ProfileHour[]): { peak: number | null; trough: number | null } {
  const seen = profile.filter((hour): hour is ProfileHour & { mean: number } => hour.mean !== null)
  const hoursAt = (mean: number) => seen.filter(hour => hour.mean === mean).map(({ hour }) => hour)
  return {
    peak: circularMean(hoursAt(Math.max(...seen.map(({ mean }) => mean)))),
    trough: circularMean(hoursAt(Math.min(...seen.map(({ mean }) => mean)))),
  }
}

/**
 * The mean direction on the clock's face, so that 23 and 1 give 0; null without an hour. Hours that cancel out, such as
 * 6 and 18, have no mean direction; the first of them represents all.
 */
export function circularMean(hours: readonly number[]): number | null {
  const [first] = hours
  if (first === undefined) return null
  if (hours.length === 1) return first
  let sine = 0
  let cosine = 0
  for (const hour of hours) {
    sine += Math.sin((hour * Math.PI) / 12)
    cosine += Math.cos((hour * Math.PI) / 12)
  }
  if (Math.hypot(sine, cosine) < 1e-9 * hours.length) return first
  // Whole and half hours come out exact: digits beyond the ninth are rounding.
  const mean = Math.round(((Math.atan2(sine, cosine) * 12) / Math.PI) * 1e9) / 1e9
  return mean < 0 ? mean + 24 : Math.abs(mean)
}
