/** The sums of squares and products of pairs about their means, in two passes, for lines and correlations. */

export interface CentredProducts {
  readonly pairs: number
  readonly xMean: number
  readonly yMean: number
  readonly xx: number
  readonly yy: number
  readonly xy: number
}

/**
 * The series have one length. Only indexes at which neither is missing (NaN) are pairs. The means are summed as
 * distances from the first pair, which keeps the digits of 1013 ± 0.3 hPa.
 */
export function centredProducts(x: Float64Array, y: Float64Array): CentredProducts {
  let pairs = 0
  let xFirst = 0
  let yFirst = 0
  let xSum = 0
  let ySum = 0
  for (let i = 0; i < x.length; i++) {
    const xValue = x[i] as number
    const yValue = y[i] as number
    if (Number.isNaN(xValue + yValue)) continue
    if (pairs++ === 0) {
      xFirst = xValue
      yFirst = yValue
    }
    xSum += xValue - xFirst
    ySum += yValue - yFirst
  }
  const xMean = xFirst + xSum / pairs
  const yMean = yFirst + ySum / pairs
  let xx = 0
  let yy = 0
  let xy = 0
  for (let i = 0; i < x.length; i++) {
    const dx = (x[i] as number) - xMean
    const dy = (y[i] as number) - yMean
    if (Number.isNaN(dx + dy)) continue
    xx += dx * dx
    yy += dy * dy
    xy += dx * dy
  }
  return { pairs, xMean, yMean, xx, yy, xy }
}
