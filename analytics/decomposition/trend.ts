/**
 * Whether a series rises or falls: claimed where the slope's interval leaves 0 out and the test of Mann and Kendall agrees.
 * That test takes means of days, in which the daily cycle and most of the memory are gone, and at least ten of them. No
 * trend is claimed below three cycles of a season: a shorter one is not found, as a peak has to fit in four times.
 */

import { type ReasonText, reasonTexts } from '../reasons.ts'
import { hourOfDayRemoved } from './deseasonalise.ts'
import { detrend } from './detrend.ts'
import { type MannKendall, mannKendall } from './mann-kendall.ts'
import { slopeInterval } from './slope-interval.ts'

const hoursPerDay = 24
/** As of a daily mean by the WMO's rule. */
const hoursOfDayMin = 18
const level = 0.05

export interface Trend {
  /** Half of the 95 % interval of the slope, per day; null without an interval. */
  readonly halfWidthPerDay: number | null
  readonly nEffective: number | null
  readonly theilSenPerDay: number | null
  readonly mannKendall: Omit<MannKendall, 'slope'> | null
  readonly direction: 'rising' | 'falling' | 'none' | null
  /** Why there is no direction. */
  readonly reason: ReasonText | null
}

export interface TrendInput {
  /** Means of hours, NaN where missing, and their local hours 0 … 23. */
  readonly hourly: Float64Array
  readonly localHours: Uint8Array
  readonly slopePerDay: number
  /** There is a daily season: it is no noise of the slope. */
  readonly hasDay: boolean
}

export function trendOf({ hourly, localHours, slopePerDay, hasDay }: TrendInput): Trend {
  const { residual } = detrend(hourly)
  const interval = slopeInterval(hasDay ? hourOfDayRemoved(residual, localHours) : residual)
  const halfWidthPerDay = interval === null ? null : interval.halfWidth * hoursPerDay
  const days = dayMeans(hourly)
  const test = mannKendall(days.numbers, days.means)
  const lack = lackOf(halfWidthPerDay !== null, test)
  const figures = {
    halfWidthPerDay,
    nEffective: interval?.nEffective ?? null,
    theilSenPerDay: test?.slope ?? null,
    mannKendall: test && { tau: test.tau, z: test.z, pValue: test.pValue },
  }
  if (lack !== null || halfWidthPerDay === null || test === null) return { ...figures, direction: null, reason: lack }
  const isSignificant = Math.abs(slopePerDay) > halfWidthPerDay && (test.pValue ?? 1) <= level
  const agree = isSignificant && Math.sign(slopePerDay) === Math.sign(test.tau)
  if (!agree) return { ...figures, direction: 'none', reason: null }
  return { ...figures, direction: slopePerDay > 0 ? 'rising' : 'falling', reason: null }
}

function lackOf(hasInterval: boolean, test: MannKendall | null): ReasonText | null {
  if (test === null) return reasonTexts.fewDays
  return hasInterval && test.pValue !== null ? null : reasonTexts.longMemory
}

/** Of each 24 hours, the last of which ends with the series, that have at least 18 values; with their numbers. */
function dayMeans(hourly: Float64Array): { numbers: Float64Array; means: Float64Array } {
  const numbers: number[] = []
  const means: number[] = []
  const first = hourly.length % hoursPerDay
  for (let start = first; start < hourly.length; start += hoursPerDay) {
    const day = hourly.subarray(start, start + hoursPerDay).filter(value => !Number.isNaN(value))
    if (day.length < hoursOfDayMin) continue
    numbers.push((start - first) / hoursPerDay)
    means.push(day.reduce((sum, value) => sum + value, 0) / day.length)
  }
  return { numbers: Float64Array.from(numbers), means: Float64Array.from(means) }
}
