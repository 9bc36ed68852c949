/**
 * How strong the daily and weekly seasons and the trend of hourly means are: F = max(0, 1 − Var R / Var(R + C)) for a
 * component C beside the remainder R of the robust STL, over the observed hours; the week's is that of one round of MSTL.
 * F is 0 when that denominator is under 1e-10 of the series' own variance: without this guard a pure sine has a trend of
 * −0.40.
 *
 * Source: Wang, Smith and Hyndman, Data Mining and Knowledge Discovery 13 (2006); the guard is that of the R package
 * tsfeatures. White noise alone has a daily strength of 0.22 on average over 30 days, which is why labels begin at 0.3.
 */

import { fillGaps } from '../time/fill-gaps.ts'
import { decomposeSeasons } from './mstl.ts'
import { dailyStl, type Stl, weeklyStl } from './stl.ts'

export interface Strength {
  readonly daily: number
  /**
   * Null under three weeks, or when the week is no significant peak of the spectrum: noise alone would give up to 0.6.
   */
  readonly weekly: number | null
  readonly trend: number
}

const coverageMin = 0.6
const hoursMin = 72
const weeklyHoursMin = 3 * 168

/**
 * Of hourly means (NaN where there is none) with their local hours 0 … 23. Null when fewer than 60 % of the hours were
 * observed or they span less than three days. `weekIsPeak` says that 168 h is a significant peak.
 */
export function strengthOf(hourly: Float64Array, hours: Uint8Array, weekIsPeak: boolean): Strength | null {
  const observed = hourly.reduce((count, value) => (Number.isNaN(value) ? count : count + 1), 0)
  if (hourly.length < hoursMin || observed < coverageMin * hourly.length) return null
  const seasons = weekIsPeak && hourly.length >= weeklyHoursMin ? [dailyStl, weeklyStl] : [dailyStl]
  const [day, week] = decomposeSeasons(fillGaps(hourly, hours), seasons, 1) as [Stl, Stl?]
  const guard = 1e-10 * observedVariance(hourly, hourly)
  return {
    daily: shareOf(day.remainder, day.seasonal, hourly, guard),
    weekly: week === undefined ? null : shareOf(week.remainder, week.seasonal, hourly, guard),
    trend: shareOf(day.remainder, day.trend, hourly, guard),
  }
}

/** 0.64 is the usual threshold for taking seasonal differences. */
export function strengthLabel(daily: number): 'none' | 'moderate' | 'strong' {
  if (daily < 0.3) return 'none'
  return daily < 0.64 ? 'moderate' : 'strong'
}

function shareOf(remainder: Float64Array, component: Float64Array, hourly: Float64Array, guard: number): number {
  const whole = observedVariance(sumOf(remainder, component), hourly)
  if (whole < guard || whole === 0) return 0
  return Math.max(0, 1 - observedVariance(remainder, hourly) / whole)
}

function sumOf(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, index) => value + (b[index] as number))
}

/** Over the cells that `hourly` observed. */
function observedVariance(values: Float64Array, hourly: Float64Array): number {
  let count = 0
  let mean = 0
  let squares = 0
  for (let index = 0; index < values.length; index++) {
    if (Number.isNaN(hourly[index] as number)) continue
    const distance = (values[index] as number) - mean
    count++
    mean += distance / count
    squares += distance * ((values[index] as number) - mean)
  }
  return squares / count
}
