/**
 * The line through pairs of which both sides err alike: orthogonal regression, Deming's with a ratio of errors of 1. It
 * makes the squared distances at right angles to the line smallest, so that exchanging x and y turns it into its inverse.
 * numpy: the eigenvector of `cov(x, y)` with the larger eigenvalue.
 */

import { centredProducts } from './centred-products.ts'

export interface Line {
  readonly slope: number
  readonly intercept: number
}

/** Of the places at which neither is missing (NaN). Null without a direction: fewer than two different pairs, a round cloud of them, or a vertical line. */
export function orthogonalLine(x: Float64Array, y: Float64Array): Line | null {
  const { xMean, yMean, xx, yy, xy } = centredProducts(x, y)
  const root = Math.hypot(xx - yy, 2 * xy)
  // Two forms of one fraction: each is exact where the other one's difference cancels.
  const slope = xx >= yy ? (2 * xy) / (xx - yy + root) : (yy - xx + root) / (2 * xy)
  return Number.isFinite(slope) ? { slope, intercept: yMean - slope * xMean } : null
}
