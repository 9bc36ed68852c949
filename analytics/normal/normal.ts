/** Compares a value with the same hours of earlier days. */

import { quantile } from '../summary/quantile.ts'

export interface NormalInput {
  /** Means of hours, NaN where missing. */
  readonly hourly: Float64Array
  /** Each cell has an hour of day 0 … 23, the number of the local day, and the day of the year 0 … 365. */
  readonly localHours: Uint8Array
  readonly localDays: Int32Array
  readonly yearDays: Uint16Array
  /** The same for the compared moment. */
  readonly at: { readonly localHour: number; readonly localDay: number; readonly yearDay: number }
  readonly value: number
}

export interface Normal {
  /** 0 … 100: the share of the earlier days that were lower; equal ones count half. */
  readonly percentile: number
  /** The 10 %, 50 % and 90 % points of the days. */
  readonly low: number
  readonly median: number
  readonly high: number
  /** Number of compared days. */
  readonly days: number
  readonly daysLower: number
  readonly daysEqual: number
  readonly basis: 'hour' | 'hour_and_season'
}

/** Fewer days have no usual value. */
export const normalDaysMin = 10
/** With at least this many days, only days of the same season count. */
const seasonFromDays = 330
const seasonHalfDays = 21
const yearDays = 366

/** Null with fewer than ten days that have this hour. */
export function normalFor(input: NormalInput): Normal | null {
  const isSeasonal = daySpan(input) >= seasonFromDays
  const seasonal = isSeasonal ? valuesOf(input, day => daysApart(day, input.at.yearDay) <= seasonHalfDays) : undefined
  if (seasonal !== undefined && seasonal.length >= normalDaysMin)
    return placed(input.value, seasonal, 'hour_and_season')
  const all = valuesOf(input, () => true)
  return all.length >= normalDaysMin ? placed(input.value, all, 'hour') : null
}

/** Values of the hour in question, one for each earlier day, ascending. */
function valuesOf(input: NormalInput, isTaken: (yearDay: number) => boolean): Float64Array {
  const { hourly, localHours, localDays, yearDays: days, at } = input
  const values: number[] = []
  let lastDay = Number.NaN
  for (let cell = 0; cell < hourly.length; cell++) {
    if (localHours[cell] !== at.localHour || Number.isNaN(hourly[cell] as number)) continue
    const day = localDays[cell] as number
    // An hour that the clock repeats counts once, and the running one does not count.
    if (day === lastDay || day >= at.localDay || !isTaken(days[cell] as number)) continue
    values.push(hourly[cell] as number)
    lastDay = day
  }
  return Float64Array.from(values).sort()
}

function daySpan({ hourly, localDays, at }: NormalInput): number {
  const first = hourly.findIndex(value => !Number.isNaN(value))
  return first < 0 ? 0 : at.localDay - (localDays[first] as number)
}

/** Counts across the turn of the year. */
function daysApart(one: number, other: number): number {
  const apart = Math.abs(one - other)
  return Math.min(apart, yearDays - apart)
}

function placed(value: number, sorted: Float64Array, basis: Normal['basis']): Normal {
  let daysLower = 0
  let daysEqual = 0
  for (const one of sorted) {
    if (one < value) daysLower++
    else if (one === value) daysEqual++
  }
  const [low, median, high] = [0.1, 0.5, 0.9].map(share => quantile(sorted, share)) as [number, number, number]
  const days = sorted.length
  return {
    percentile: (100 * (daysLower + daysEqual / 2)) / days,
    low,
    median,
    high,
    days,
    daysLower,
    daysEqual,
    basis,
  }
}
