/** The sums of squares and products of pairs about their means, in two passes: what lines and correlations are made of. */

import { momentsOf } from '../summary/moments.ts'

export interface CentredProducts {
  readonly xMean: number
  readonly yMean: number
  readonly xx: number
  readonly yy: number
  readonly xy: number
}

/** Of two series of one length without missing values. */
export function centredProducts(x: Float64Array, y: Float64Array): CentredProducts {
  const xMean = momentsOf(x).mean
  const yMean = momentsOf(y).mean
  let xx = 0
  let yy = 0
  let xy = 0
  for (let i = 0; i < x.length; i++) {
    const dx = (x[i] as number) - xMean
    const dy = (y[i] as number) - yMean
    xx += dx * dx
    yy += dy * dy
    xy += dx * dy
  }
  return { xMean, yMean, xx, yy, xy }
}
