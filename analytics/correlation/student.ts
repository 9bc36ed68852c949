/** Student's t and the normal distribution, as far as tests and intervals need them. */

import { regularisedBeta } from '../special-functions.ts'

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
