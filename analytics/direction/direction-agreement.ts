/** The differences between two series of directions, each by the shorter way. */

import { circularSummary } from './circular-summary.ts'
import { normaliseDegrees, turnBetween } from './degrees.ts'

interface DirectionAgreement {
  /** Pairs without a missing value. */
  readonly n: number
  /** The circular mean of a − b, within [−180, 180]; null without a pair, and where the differences cancel out. */
  readonly bias: number | null
  /** The mean absolute difference, 0 to 180. */
  readonly mae: number | null
  /** R of the differences: 1 where they are all equal. */
  readonly resultant_length: number | null
}

/** a − b within [−180, 180]; NaN where one is missing. Both arrays have the same length. */
export function directionDifferences(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((degrees, index) => turnBetween(normaliseDegrees(b[index] as number), normaliseDegrees(degrees)))
}

export function directionAgreement(differences: Float64Array): DirectionAgreement {
  const { count, mean_degrees, resultant_length } = circularSummary(differences)
  let sum = 0
  for (const difference of differences) if (!Number.isNaN(difference)) sum += Math.abs(difference)
  const bias = mean_degrees === null ? null : turnBetween(0, mean_degrees)
  return { n: count, bias, mae: count === 0 ? null : sum / count, resultant_length }
}
