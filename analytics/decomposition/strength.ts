/**
 * The strengths of the daily and weekly seasons and of the trend of hourly means: F = max(0, 1 − Var R / Var(R + C))
 * for a component C beside the remainder R of the robust STL, over the observed hours. The weekly strength comes from
 * one round of MSTL. F is 0 when the denominator is under 1e-10 of the series' own variance: without this guard a pure
 * sine has a trend of −0.40.
 *
 * Source: Wang, Smith and Hyndman, Data Mining and Knowledge Discovery 13 (2006); the guard comes from the R package
 * tsfeatures. White noise alone has a daily strength of 0.22 on average over 30 days and more over a few. So the
 * strength alone does not show a season: the label also requires a significant peak.
 *
 * Half of the sensor's resolution is the lower bound of the robust scale, in the weights of the STL and of the hours
 * themselves: smaller variations are rounding, and have no strength.
 */

import { medianAbsoluteDeviation, quantile } from 'simple-statistics'
import { type Reason, reasons } from '../reasons.ts'
import { fillGaps } from '../time/fill-gaps.ts'
import { dailyStl, decompose, type Stl, type StlOptions, weeklyStl } from './stl.ts'

/** Either all null with a reason, or none. */
export interface Strength {
  readonly daily: number | null
  /**
   * Null under three weeks, or when the week is not a significant peak of the spectrum: noise alone would give up to
   * 0.6.
   */
  readonly weekly: number | null
  readonly trend: number | null
  readonly reason: Reason | null
}

const coverageMin = 0.6
const hoursMin = 72
/** Converts a median absolute deviation into a standard deviation of normal noise. */
const normalMad = 1.4826
/** The width of the middle 80 % of a normal distribution, in standard deviations. */
const middleWidth = 2.56
/** Values that span this many steps of the sensor vary. */
const variedSteps = 100
const weeklyHoursMin = 3 * 168

/**
 * Takes hourly means (NaN where missing) with their local hours 0 … 23. `weekIsPeak`: 168 h is a significant peak;
 * `quantum`: the sensor's resolution.
 */
export function strengthOf(hourly: Float64Array, hours: Uint8Array, weekIsPeak: boolean, quantum = 0): Strength {
  const observed = hourly.filter(value => !Number.isNaN(value))
  if (hourly.length < hoursMin) return noStrength(reasons.shortSpan)
  if (observed.length < coverageMin * hourly.length) return noStrength(reasons.sparseHours)
  if (isNearlyConstant([...observed], quantum)) return noStrength(reasons.nearlyConstant)
  const seasons = weekIsPeak && hourly.length >= weeklyHoursMin ? [dailyStl, weeklyStl] : [dailyStl]
  const [day, week] = decomposeSeasons(fillGaps(hourly, hours), seasons, 1, quantum / 2) as [Stl, Stl?]
  const guard = 1e-10 * observedVariance(hourly, hourly)
  return {
    daily: shareOf(day.remainder, day.seasonal, hourly, guard),
    weekly: week === undefined ? null : shareOf(week.remainder, week.seasonal, hourly, guard),
    trend: shareOf(day.remainder, day.trend, hourly, guard),
    reason: null,
  }
}

/** The larger of two scales decides: most values of light are 0, and so is their median deviation. */
function isNearlyConstant(values: number[], quantum: number): boolean {
  const half = quantum / 2
  if (normalMad * medianAbsoluteDeviation(values) >= half) return false
  const [q0, q10, q90, q100] = quantile(values, [0, 0.1, 0.9, 1]) as [number, number, number, number]
  return (q90 - q10) / middleWidth < half && q100 - q0 < variedSteps * quantum
}

export function noStrength(reason: Reason): Strength {
  return { daily: null, weekly: null, trend: null, reason }
}

/**
 * Without a significant peak at a day or a whole fraction of it, the daily season is `none`, whatever the strength.
 * With one, the strength is the season's share of the series. 0.64 is the usual threshold for taking seasonal
 * differences.
 */
export function strengthLabel(daily: number, dayIsPeak: boolean): 'none' | 'weak' | 'moderate' | 'strong' {
  if (!dayIsPeak) return 'none'
  if (daily < 0.3) return 'weak'
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

/** Variance over the cells that `hourly` observed. */
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

/**
 * MSTL: a series with several seasons. STL extracts each from the rest without the others, the shortest first; the
 * second round subtracts the others' first results.
 *
 * The same numbers as `statsmodels.tsa.seasonal.MSTL(x, periods, windows, iterate=rounds, stl_kwargs={'robust':
 * …}).fit()`. Source: Bandara, Hyndman and Bergmeir, "MSTL", arXiv 2107.13462 (2021).
 */

/**
 * Decomposes a complete series (no NaN) and returns the last STL of each season, from the shortest to the longest.
 * `seasonal` is that season. `trend` and `remainder` of the longest belong to the whole series, and with all seasons
 * add up to it. Throws a RangeError when the series has less than two of the longest.
 */
export function decomposeSeasons(
  values: Float64Array,
  seasons: readonly StlOptions[],
  rounds = 2,
  scaleMin = 0,
): Stl[] {
  const rest = values.slice()
  const found: Stl[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [index, season] of seasons.entries()) {
      addTo(rest, found[index]?.seasonal, 1)
      const part = decompose(rest, season, scaleMin)
      addTo(rest, part.seasonal, -1)
      found[index] = part
    }
  }
  return found
}

function addTo(values: Float64Array, seasonal: Float64Array | undefined, sign: 1 | -1): void {
  if (seasonal === undefined) return
  for (let i = 0; i < values.length; i++) (values[i] as number) += sign * (seasonal[i] as number)
}
