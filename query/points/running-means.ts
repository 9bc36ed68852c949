/**
 * Running means over the minutes that end at a point, of the same series and unit. They are computed from the stored
 * points whenever a point is read, so a late point is in all of them; each sum is taken from the newest value to the
 * oldest, so a point has the same means in whatever set of rows it is found.
 */

import type { PointRows } from './point-rows.ts'

/** Ascending, with the number of distinct minutes that a mean needs. */
const windows = [
  { minutes: 15, distinctMin: 12 },
  { minutes: 30, distinctMin: 23 },
  { minutes: 60, distinctMin: 45 },
] as const

const minuteUs = 60_000_000
/** How far back from a point the rows are needed. The start itself is not. */
export const windowUs = 60 * minuteUs

/** A mean for each of 15, 30 and 60 minutes; NaN where there are too few points. */
export interface RunningMeans {
  at(series: number, timeUs: number): readonly [number, number, number]
}

/** `rows` in the order of time, all of the series from an hour before each point that is asked for. */
export function createRunningMeans(rows: PointRows): RunningMeans {
  const bySeries = positionsBySeries(rows)
  const { timesUs, values, units } = rows

  function at(series: number, timeUs: number): [number, number, number] {
    const means: [number, number, number] = [Number.NaN, Number.NaN, Number.NaN]
    const positions = bySeries.get(series) ?? []
    let place = lastAtOrBefore(positions, timesUs, timeUs)
    const unit = units[positions[place] ?? -1]
    const sum = { values: 0, count: 0, distinct: 0, minute: Number.NaN }
    for (const [index, { minutes, distinctMin }] of windows.entries()) {
      const startUs = timeUs - minutes * minuteUs
      while (place >= 0 && (timesUs[positions[place] as number] as number) > startUs) {
        const row = positions[place--] as number
        if (units[row] === unit) add(sum, timesUs[row] as number, values[row] as number)
      }
      if (sum.distinct >= distinctMin) means[index] = sum.values / sum.count
    }
    return means
  }

  return { at }
}

interface Sum {
  values: number
  count: number
  /** Minutes with a value. */
  distinct: number
  minute: number
}

function add(sum: Sum, timeUs: number, value: number): void {
  const minute = Math.floor(timeUs / minuteUs)
  if (minute !== sum.minute) sum.distinct++
  sum.minute = minute
  sum.values += value
  sum.count++
}

function positionsBySeries({ series, length }: PointRows): Map<number, number[]> {
  const bySeries = new Map<number, number[]>()
  for (let row = 0; row < length; row++) {
    const positions = bySeries.get(series[row] as number)
    if (positions === undefined) bySeries.set(series[row] as number, [row])
    else positions.push(row)
  }
  return bySeries
}

/** -1 when there is none. */
function lastAtOrBefore(positions: readonly number[], timesUs: Float64Array, timeUs: number): number {
  let low = 0
  let high = positions.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((timesUs[positions[middle] as number] as number) <= timeUs) low = middle + 1
    else high = middle
  }
  return low - 1
}
