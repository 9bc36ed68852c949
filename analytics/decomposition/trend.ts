/**
 * Whether a series rises or falls: claimed where the slope's interval leaves 0 out and two tests agree, that of Mann and Kendall
 * and one against a level that only wanders. The tests take means of days, in which the daily cycle and most of the memory are
 * gone, and at least ten of them. No trend is claimed below three cycles of a season: a shorter one is not found, as a peak has
 * to fit in four times.
 */

import { type ReasonText, reasonTexts } from '../reasons.ts'
import { dayMeans } from './day-means.ts'
import { hourOfDayRemoved } from './deseasonalise.ts'
import { detrend } from './detrend.ts'
import { type Drift, driftTest } from './drift.ts'
import { type MannKendall, mannKendall } from './mann-kendall.ts'
import { slopeInterval } from './slope-interval.ts'

const hoursPerDay = 24
const level = 0.05

export interface Trend {
  /** Half of the 95 % interval of the slope, per day; null without an interval. */
  readonly halfWidthPerDay: number | null
  readonly nEffective: number | null
  readonly theilSenPerDay: number | null
  readonly mannKendall: Omit<MannKendall, 'slope'> | null
  readonly drift: Drift | null
  /** `none` where nothing is significant; null where some is, but not all. */
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
  const drift = driftTest(days.means)
  const figures = {
    halfWidthPerDay,
    nEffective: interval?.nEffective ?? null,
    theilSenPerDay: test?.slope ?? null,
    mannKendall: test && { tau: test.tau, z: test.z, pValue: test.pValue },
    drift,
  }
  if (test === null || drift === null) return { ...figures, direction: null, reason: reasonTexts.fewDays }
  if (halfWidthPerDay === null || test.pValue === null)
    return { ...figures, direction: null, reason: reasonTexts.longMemory }
  const signs = [
    Math.abs(slopePerDay) > halfWidthPerDay ? Math.sign(slopePerDay) : 0,
    test.pValue <= level ? Math.sign(test.tau) : 0,
    drift.pValue <= level ? Math.sign(drift.t) : 0,
  ]
  return { ...figures, ...directionOf(signs) }
}

/** 1, −1, or 0 where nothing is significant, of each of the tests. */
function directionOf(signs: readonly number[]): Pick<Trend, 'direction' | 'reason'> {
  const [first] = signs
  if (signs.some(sign => sign !== first)) return { direction: null, reason: reasonTexts.testsDisagree }
  if (first === 0) return { direction: 'none', reason: null }
  return { direction: first === 1 ? 'rising' : 'falling', reason: null }
}
