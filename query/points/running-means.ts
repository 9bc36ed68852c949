/**
 * Running means over the minutes up to a point, of the same series and unit. They are computed from the stored points
 * on every read, so they include late points. Each sum goes from the newest value to the oldest, so a point's means do
 * not depend on the other rows read.
 */

import type { PointRows } from './point-rows.ts'

/** Ascending by length, with the number of distinct minutes that a mean needs. */
const windows = [
  { minutes: 15, distinctMin: 12 },
  { minutes: 30, distinctMin: 23 },
  { minutes: 60, distinctMin: 45 },
] as const

const minuteUs = 60_000_000
/** Length of the rows needed before a point. The start is not included. */
export const windowUs = 60 * minuteUs

/** A mean for each of 15, 30 and 60 minutes; NaN where there are too few points. */
export interface RunningMeans {
  at(series: number, timeUs: number): readonly [number, number, number]
}

/** The rows of one series, in the order of time. */
interface SeriesRows {
  readonly timesUs: Float64Array
  readonly minutes: Float64Array
  readonly values: Float64Array
  readonly units: Float64Array
}

/** `rows` are in the order of time and cover the hour before each requested point. */
export function createRunningMeans(rows: PointRows): RunningMeans {
  const bySeries = rowsBySeries(rows)
  return {
    at(series, timeUs) {
      const found = bySeries.get(series)
      return found === undefined ? [Number.NaN, Number.NaN, Number.NaN] : meansAt(found, timeUs)
    },
  }
}

/** A longer window goes on with the sum of a shorter one. */
function meansAt({ timesUs, minutes, values, units }: SeriesRows, timeUs: number): [number, number, number] {
  const means: [number, number, number] = [Number.NaN, Number.NaN, Number.NaN]
  let row = lastAtOrBefore(timesUs, timeUs)
  const unit = units[row]
  let sum = 0
  let count = 0
  let distinct = 0
  let lastMinute = Number.NaN
  for (let index = 0; index < windows.length; index++) {
    const window = windows[index] as (typeof windows)[number]
    const startUs = timeUs - window.minutes * minuteUs
    for (; row >= 0 && (timesUs[row] as number) > startUs; row--) {
      if (units[row] !== unit) continue
      const minute = minutes[row] as number
      if (minute !== lastMinute) distinct++
      lastMinute = minute
      sum += values[row] as number
      count++
    }
    if (distinct >= window.distinctMin) means[index] = sum / count
  }
  return means
}

/** Adjacent, so that a window of a series is read from one place. */
function rowsBySeries({ series, timesUs, values, units, length }: PointRows): Map<number, SeriesRows> {
  const counts = new Map<number, number>()
  for (let row = 0; row < length; row++) counts.set(series[row] as number, (counts.get(series[row] as number) ?? 0) + 1)
  const bySeries = new Map<number, SeriesRows & { filled: number }>()
  for (const [number, count] of counts) {
    const column = () => new Float64Array(count)
    bySeries.set(number, { timesUs: column(), minutes: column(), values: column(), units: column(), filled: 0 })
  }
  for (let row = 0; row < length; row++) {
    const one = bySeries.get(series[row] as number) as SeriesRows & { filled: number }
    const at = one.filled++
    const timeUs = timesUs[row] as number
    one.timesUs[at] = timeUs
    one.minutes[at] = Math.floor(timeUs / minuteUs)
    one.values[at] = values[row] as number
    one.units[at] = units[row] as number
  }
  return bySeries
}

/** -1 when there is none. */
function lastAtOrBefore(timesUs: Float64Array, timeUs: number): number {
  let low = 0
  let high = timesUs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((timesUs[middle] as number) <= timeUs) low = middle + 1
    else high = middle
  }
  return low - 1
}
