/**
 * The devices of a fleet that are unlike the others, by the modified z-score (Iglewicz and Hoaglin, How to Detect and Handle
 * Outliers, 1993): 0.6745 (x − median) / MAD, of which they call more than 3.5 an outlier.
 */

import { median, medianAbsoluteDeviation } from 'simple-statistics'

export interface OddOne {
  /** Index among the values. */
  readonly index: number
  readonly score: number
}

const valuesMin = 8
const scoreMax = 3.5
/** The 75th percentile of the normal distribution: so much is the MAD of one of unit variance. */
const normalMad = 0.6745

/** Of finite values. The most unlike first; none among fewer than eight values, or where half of them are the same. */
export function oddOnesOut(values: readonly number[]): { median: number; odd: OddOne[] } | undefined {
  if (values.length < valuesMin) return undefined
  const middle = median([...values])
  const deviation = medianAbsoluteDeviation([...values])
  if (!(deviation > 0)) return undefined
  const odd = values
    .map((value, index) => ({ index, score: (normalMad * (value - middle)) / deviation }))
    .filter(({ score }) => Math.abs(score) > scoreMax)
    .sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
  return { median: middle, odd }
}
