/**
 * The day on which the least-squares line through a battery's daily means reaches its end. The interval comes from
 * inverse regression (Fieller 1954; Draper and Smith, Applied Regression Analysis, 1998, 3.2): the days at which the 95
 * % confidence band of the line holds that value. An interval of the slope alone would ignore the uncertainty of the
 * level, and hold the true day in 82 instead of 95 % of the cases with 30 days.
 */

import { type DailyMean, errorsOf, independentErrorsOf, lineOf } from './line.ts'

export interface BatteryDays {
  /** From the last day until the line reaches the end; 0 if it has already. */
  readonly daysLeft: number
  /** The 95 % interval. */
  readonly low: number
  readonly high: number
  /** Negative. */
  readonly perDay: number
}

export interface BatteryLimits {
  /** The value of an empty battery. */
  readonly end: number
  /** A longer time is not reported. */
  readonly daysMax: number
  /** The days are too few to estimate their autocorrelation. */
  readonly isIndependent?: boolean
}

const daysMin = 7

/** `days` begin after the last jump. Undefined for fewer than seven, and where the slope's interval is not below 0. */
export function batteryDays(
  days: readonly DailyMean[],
  { end, daysMax, isIndependent = false }: BatteryLimits,
): BatteryDays | undefined {
  const last = days.at(-1)
  if (last === undefined || days.length < daysMin) return undefined
  const line = lineOf(days)
  const { meanDay, meanValue, slope } = line
  const above = meanValue - end
  const left = (fall: number) => Math.max(0, fall / -slope - (last.day - meanDay))
  // Checked before the errors, which take longer: most batteries end here.
  if (!(slope < 0) || left(above) > daysMax) return undefined
  const { slopeError, meanError } = isIndependent ? independentErrorsOf(line) : errorsOf(line, days)
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

/**
 * Days after the last rise by more than `rise`, which means a charge or a replacement. The day of the rise is left out,
 * because its mean covers both charges.
 */
export function sinceJump(
  days: readonly DailyMean[],
  isJump: (from: number, to: number) => boolean,
): readonly DailyMean[] {
  const at = days.findLastIndex(({ mean }, index) => index > 0 && isJump(days[index - 1]?.mean ?? mean, mean))
  return days.slice(at + 1)
}
