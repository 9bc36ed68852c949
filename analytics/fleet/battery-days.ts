/**
 * How long a battery lasts, by least squares over its daily means: the days until the line reaches its end, from the last day
 * on, with the interval that the standard error of the slope leaves open.
 */

import { linearRegression } from 'simple-statistics'

export interface DailyMean {
  /** Days since some moment, ascending. */
  readonly day: number
  readonly mean: number
}

export interface BatteryDays {
  /** Until the end is reached; 0 when it has been. */
  readonly daysLeft: number
  /** At the steepest and at the flattest slope of the interval; `high` is undefined when that never gets there. */
  readonly low: number
  readonly high: number | undefined
  readonly perDay: number
}

export interface BatteryLimits {
  /** Where the battery is empty. */
  readonly end: number
  /** A rise from one day to the next by more than this: charged, or another battery. */
  readonly jump: number
}

const daysMin = 7
/** Two-sided 95 % of Student's t for 5 to 30 degrees of freedom, as a fit within 0.1 %. */
const tQuantile = (freedom: number) => 1.96 + 2.372 / freedom + 2.822 / freedom ** 2 + 3.1 / freedom ** 3

/** Undefined where nothing can be said: too few days since the last jump, or no slope that is surely downwards. */
export function batteryDays(days: readonly DailyMean[], { end, jump }: BatteryLimits): BatteryDays | undefined {
  const since = sinceJump(days, jump)
  const last = since.at(-1)
  if (last === undefined || since.length < daysMin) return undefined
  // Centred: the library sums products as they are.
  const meanDay = meanOf(since.map(({ day }) => day))
  const meanValue = meanOf(since.map(({ mean }) => mean))
  const centred = since.map(({ day, mean }) => [day - meanDay, mean - meanValue])
  const { m: slope } = linearRegression(centred)
  const squares = (terms: readonly number[]) => terms.reduce((sum, term) => sum + term * term, 0)
  const residuals = squares(centred.map(([x = 0, y = 0]) => y - slope * x))
  const freedom = since.length - 2
  const error = tQuantile(freedom) * Math.sqrt(residuals / freedom / squares(centred.map(([x = 0]) => x)))
  if (!(slope + error < 0)) return undefined
  const left = Math.max(0, meanValue + slope * (last.day - meanDay) - end)
  return { daysLeft: left / -slope, low: left / (error - slope), high: left / -(slope + error), perDay: slope }
}

function sinceJump(days: readonly DailyMean[], jump: number): readonly DailyMean[] {
  const at = days.findLastIndex(({ mean }, index) => index > 0 && mean - (days[index - 1]?.mean ?? mean) > jump)
  return days.slice(Math.max(0, at))
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
