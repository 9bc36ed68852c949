/** The least-squares line through daily means, and its uncertainty. */

import { linearRegression, mean as meanOf } from 'simple-statistics'
import { studentQuantile975 } from '../correlation/student.ts'
import { slopeInterval } from '../decomposition/slope-interval.ts'

export interface DailyMean {
  /** A day number, ascending. */
  readonly day: number
  readonly mean: number
}

export interface Line {
  readonly meanDay: number
  readonly meanValue: number
  /** The change per day. */
  readonly slope: number
  /** Day and value, each minus its mean. */
  readonly centred: readonly (readonly [number, number])[]
}

const roundingMax = 1e-9

export function lineOf(days: readonly DailyMean[]): Line {
  const meanDay = meanOf(days.map(({ day }) => day))
  const meanValue = meanOf(days.map(({ mean }) => mean))
  // The library does not centre its sums of products.
  const centred = days.map(({ day, mean }): [number, number] => [day - meanDay, mean - meanValue])
  return { meanDay, meanValue, slope: linearRegression(centred).m, centred }
}

/** Half of the 95 % intervals of the slope and of the value on the mean day, by Student's t with n − 2 degrees of freedom. */
export function independentErrorsOf({ centred, slope }: Line): { slopeError: number; meanError: number } {
  const freedom = centred.length - 2
  const error = studentQuantile975(freedom) * Math.sqrt(sumOfSquares(residualsOf({ centred, slope })) / freedom)
  const slopeError = error / Math.sqrt(sumOfSquares(centred.map(([day]) => day)))
  return { slopeError, meanError: error / Math.sqrt(centred.length) }
}

/** The same, or wider when the residuals are autocorrelated; infinite when fewer than three days are independent. */
export function errorsOf(line: Line, days: readonly DailyMean[]): { slopeError: number; meanError: number } {
  const { slopeError, meanError } = independentErrorsOf(line)
  // The residuals of a straight line are rounding errors.
  if (!(slopeError > Math.abs(line.slope) * roundingMax)) return { slopeError, meanError }
  const inflation = Math.max(1, slopeErrorWithMemory(days, residualsOf(line)) / slopeError)
  return { slopeError: slopeError * inflation, meanError: meanError * inflation }
}

function residualsOf({ centred, slope }: Pick<Line, 'centred' | 'slope'>): number[] {
  return centred.map(([day, value]) => value - slope * day)
}

function slopeErrorWithMemory(days: readonly DailyMean[], residuals: readonly number[]): number {
  const firstDay = days[0]?.day ?? 0
  const byDay = new Float64Array((days.at(-1)?.day ?? 0) - firstDay + 1).fill(Number.NaN)
  for (const [index, { day }] of days.entries()) byDay[day - firstDay] = residuals[index] ?? Number.NaN
  return slopeInterval(byDay)?.halfWidth ?? Number.POSITIVE_INFINITY
}

function sumOfSquares(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0)
}
