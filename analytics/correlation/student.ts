/** Student's t and the normal distribution, as far as tests and intervals need them. */

import { erfc, regularisedBeta } from '../special-functions.ts'

/** The 97.5 % point of the normal distribution: 95 % of it lie within ± this. */
export const normalQuantile975 = 1.959963984540054

/**
 * P(|T| ≥ |t|) of Student's distribution with any degrees of freedom > 0, not only whole ones: I_x(df/2, ½) at
 * x = df/(df + t²) (DLMF 8.17). `scipy.stats.t.sf(abs(t), df) * 2`. Infinite t gives 0; NaN or df ≤ 0 gives NaN.
 */
export function studentTwoSidedP(t: number, degreesOfFreedom: number): number {
  if (Number.isNaN(t) || !(degreesOfFreedom > 0)) return Number.NaN
  // Divided by the larger of the two, so that neither part overflows or loses its digits.
  const ratio = (t / degreesOfFreedom) * t
  if (ratio === Number.POSITIVE_INFINITY) return 0
  return regularisedBeta(degreesOfFreedom / 2, 0.5, 1 / (1 + ratio), ratio / (1 + ratio))
}

/** The 97.5 % point of Student's distribution: 95 % of it lie within ± this. `scipy.stats.t.ppf(0.975, df)`; NaN for df ≤ 0. */
export function studentQuantile975(degreesOfFreedom: number): number {
  if (!(degreesOfFreedom > 0)) return Number.NaN
  const isBeyond = (t: number) => studentTwoSidedP(t, degreesOfFreedom) > 0.05
  let low = normalQuantile975
  let high = 2 * low
  while (isBeyond(high)) high *= 2
  for (let middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
    if (isBeyond(middle)) low = middle
    else high = middle
  }
  return high
}

/** Doubles do not reach further out. */
const normalMax = 40

/** The point above which a normal variable lies with this probability. `scipy.stats.norm.isf`. */
export function normalUpperPoint(probability: number): number {
  let low = -normalMax
  let high = normalMax
  for (let middle = 0; middle > low && middle < high; middle = (low + high) / 2) {
    if (erfc(middle / Math.SQRT2) / 2 > probability) low = middle
    else high = middle
  }
  return high
}
