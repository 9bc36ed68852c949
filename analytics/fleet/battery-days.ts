/**
 * How long a battery lasts: when the least-squares line through its daily means reaches the value at which it is empty. The interval is that of inverse regression (Fieller 1954; Draper and Smith, Applied Regression Analysis, 1998, 3.2):
 * the days at which the 95 % confidence band of the line holds that value. An interval of the slope alone would leave out
 * that the level is uncertain too, and hold the true day in 82 instead of 95 % of the cases with 30 days.
 */

import { linearRegression } from 'simple-statistics'
import { studentQuantile975 } from '../correlation/student.ts'
import { slopeInterval } from '../decomposition/slope-interval.ts'

export interface DailyMean {
  /** A day number, ascending. */
  readonly day: number
  readonly mean: number
}

export interface BatteryDays {
  /** From the last day until the line reaches the end; 0 when it has. */
  readonly daysLeft: number
  /** The 95 % interval. */
  readonly low: number
  readonly high: number
  /** Negative. */
  readonly perDay: number
}

export interface BatteryLimits {
  /** Where the battery is empty. */
  readonly end: number
  /** A rise from one day to the next by more than this: charged, or another battery. */
  readonly jump: number
  /** A longer time is not reported. */
  readonly daysMax: number
}

const daysMin = 7
const roundingMax = 1e-9

/** Undefined for fewer than seven days since the last jump, and where the slope's interval is not below 0. */
export function batteryDays(
  days: readonly DailyMean[],
  { end, jump, daysMax }: BatteryLimits,
): BatteryDays | undefined {
  const since = sinceJump(days, jump)
  const last = since.at(-1)
  if (last === undefined || since.length < daysMin) return undefined
  const line = lineOf(since)
  const { meanDay, meanValue, slope } = line
  const above = meanValue - end
  const left = (fall: number) => Math.max(0, fall / -slope - (last.day - meanDay))
  // Before the errors, which take longer: most batteries end here.
  if (!(slope < 0) || left(above) > daysMax) return undefined
  const { slopeError, meanError } = errorsOf(line, since)
  // Otherwise the interval has no upper end.
  if (!(slope + slopeError < 0)) return undefined
  const share = (slopeError / slope) ** 2
  const width = Math.sqrt(share * above ** 2 + (1 - share) * meanError ** 2)
  return {
    daysLeft: left(above),
    low: left((above - width) / (1 - share)),
    high: left((above + width) / (1 - share)),
    perDay: slope,
  }
}

/** From the day after the jump: the mean of that day is of both charges. */
function sinceJump(days: readonly DailyMean[], jump: number): readonly DailyMean[] {
  const at = days.findLastIndex(({ mean }, index) => index > 0 && mean - (days[index - 1]?.mean ?? mean) > jump)
  return days.slice(at + 1)
}

interface Line {
  readonly meanDay: number
  readonly meanValue: number
  readonly slope: number
  /** Day and value, each less its mean. */
  readonly centred: readonly (readonly [number, number])[]
}

function lineOf(days: readonly DailyMean[]): Line {
  const meanDay = meanOf(days.map(({ day }) => day))
  const meanValue = meanOf(days.map(({ mean }) => mean))
  // The library sums products as they are.
  const centred = days.map(({ day, mean }): [number, number] => [day - meanDay, mean - meanValue])
  return { meanDay, meanValue, slope: linearRegression(centred).m, centred }
}

/**
 * Half of the 95 % intervals of the slope and of the value on the mean day: those of independent days, by Student's t with
 * n − 2 degrees of freedom, or wider when the residuals are autocorrelated.
 */
function errorsOf({ centred, slope }: Line, days: readonly DailyMean[]): { slopeError: number; meanError: number } {
  const residuals = centred.map(([day, value]) => value - slope * day)
  const freedom = days.length - 2
  const error = studentQuantile975(freedom) * Math.sqrt(sumOfSquares(residuals) / freedom)
  const slopeError = error / Math.sqrt(sumOfSquares(centred.map(([day]) => day)))
  // The residuals of a straight line are rounding errors.
  const inflation =
    slopeError > -slope * roundingMax ? Math.max(1, slopeErrorWithMemory(days, residuals) / slopeError) : 1
  return { slopeError: slopeError * inflation, meanError: (error / Math.sqrt(days.length)) * inflation }
}

/** Infinite when fewer than three days count as independent. */
function slopeErrorWithMemory(days: readonly DailyMean[], residuals: readonly number[]): number {
  const firstDay = days[0]?.day ?? 0
  const byDay = new Float64Array((days.at(-1)?.day ?? 0) - firstDay + 1).fill(Number.NaN)
  for (const [index, { day }] of days.entries()) byDay[day - firstDay] = residuals[index] ?? Number.NaN
  return slopeInterval(byDay)?.halfWidth ?? Number.POSITIVE_INFINITY
}

function sumOfSquares(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
