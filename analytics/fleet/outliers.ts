/**
 * Outliers by the modified z-score, 0.6745 (x − median) / MAD: those beyond ±3.5 (Iglewicz and Hoaglin, How to Detect and
 * Handle Outliers, 1993).
 */

import { median, medianAbsoluteDeviation } from 'simple-statistics'

export interface Outlier {
  /** Index among the values. */
  readonly index: number
  readonly score: number
}

const valuesMin = 8
const scoreMax = 3.5
/** The MAD of the standard normal distribution, its 75th percentile. */
const normalMad = 0.6745

/** `values` are finite. Largest score first; undefined for fewer than eight values or a MAD of 0. */
export function findOutliers(values: readonly number[]): { median: number; outliers: Outlier[] } | undefined {
  if (values.length < valuesMin) return undefined
  const middle = median([...values])
  const deviation = medianAbsoluteDeviation([...values])
  if (!(deviation > 0)) return undefined
  const outliers = values
    .map((value, index) => ({ index, score: (normalMad * (value - middle)) / deviation }))
    .filter(({ score }) => Math.abs(score) > scoreMax)
    .sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
  return { median: middle, outliers }
}
