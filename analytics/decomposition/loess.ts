/**
 * Loess of degree 1 on evenly spaced values, as STL uses it: at each position a line is fitted to the nearest `window`
 * values, weighted by the tricube of their distance and, if given, by their robustness. Positions −1 and n continue
 * the line beyond both ends. Source: Cleveland and others, "STL", Journal of Official Statistics 6 (1990).
 */

import type { LoessPlan } from './loess-plan.ts'

/** The fits at 0 … n − 1 into `out`; where no value has weight the value itself stays, as in statsmodels. */
export function loess(plan: LoessPlan, values: Float64Array, weights: Float64Array | null, out: Float64Array): void {
  const { length, edge } = plan
  if (weights === null) {
    for (let position = edge; position < length - edge; position++) out[position] = centred(plan, values, position)
  } else {
    smoothWeighted(plan, values, weights, out)
  }
  for (let end = 0; end < edge; end++) {
    for (const position of [end, length - 1 - end]) {
      const fit = loessAtEnd(plan, values, weights, position)
      out[position] = Number.isNaN(fit) ? (values[position] as number) : fit
    }
  }
}

function smoothWeighted(plan: LoessPlan, values: Float64Array, weights: Float64Array, out: Float64Array): void {
  const { length, edge, products } = plan
  for (let index = 0; index < length; index++) products[index] = (weights[index] as number) * (values[index] as number)
  for (let position = edge; position < length - edge; position++) {
    const fit = centredWeighted(plan, values, weights, position)
    out[position] = Number.isNaN(fit) ? (values[position] as number) : fit
  }
}

/** The fit at a position near an end, −1 and n included; NaN where no value has weight. */
export function loessAtEnd(
  plan: LoessPlan,
  values: Float64Array,
  weights: Float64Array | null,
  position: number,
): number {
  const atLeft = position < plan.edge
  const fromEnd = atLeft ? position : plan.length - 1 - position
  const first = atLeft ? 0 : plan.length - 1
  const step = atLeft ? 1 : -1
  return weights === null
    ? ended(plan, values, fromEnd, first, step)
    : endedWeighted(plan, values, weights, fromEnd, first, step)
}

function centred({ coefficients }: LoessPlan, values: Float64Array, position: number): number {
  let fit = (coefficients[0] as number) * (values[position] as number)
  for (let distance = 1; distance < coefficients.length; distance++) {
    fit +=
      (coefficients[distance] as number) *
      ((values[position - distance] as number) + (values[position + distance] as number))
  }
  return fit
}

function ended(plan: LoessPlan, values: Float64Array, fromEnd: number, first: number, step: number): number {
  const { taps, edgeCoefficients } = plan
  const row = (fromEnd + 1) * taps
  let fit = 0
  let index = first
  for (let tap = 0; tap < taps; tap++) {
    fit += (edgeCoefficients[row + tap] as number) * (values[index] as number)
    index += step
  }
  return fit
}

/**
 * Both sides of the window at once: even sums of the positions' powers use the sum of the pair, odd ones its
 * difference.
 */
function centredWeighted(plan: LoessPlan, values: Float64Array, weights: Float64Array, position: number): number {
  const { tricube, products } = plan
  let sum = weights[position] as number
  let sumX = 0
  let sumXx = 0
  let sumY = products[position] as number
  let sumXy = 0
  for (let distance = 1; distance < tricube.length; distance++) {
    const weight = tricube[distance] as number
    const weightX = weight * distance
    const lower = weights[position - distance] as number
    const upper = weights[position + distance] as number
    const lowerY = products[position - distance] as number
    const upperY = products[position + distance] as number
    sum += weight * (lower + upper)
    sumX += weightX * (upper - lower)
    sumXx += weightX * distance * (lower + upper)
    sumY += weight * (lowerY + upperY)
    sumXy += weightX * (upperY - lowerY)
  }
  keepSums(plan, sum, sumX, sumXx, sumY, sumXy)
  return fitFromSums(plan, values, weights, plan.edge, position - plan.edge, 1)
}

function endedWeighted(
  plan: LoessPlan,
  values: Float64Array,
  weights: Float64Array,
  fromEnd: number,
  first: number,
  step: number,
): number {
  const { taps, edgeTricube } = plan
  const row = (fromEnd + 1) * taps
  let sum = 0
  let sumX = 0
  let sumXx = 0
  let sumY = 0
  let sumXy = 0
  let index = first
  for (let tap = 0; tap < taps; tap++) {
    const x = tap - fromEnd
    const value = values[index] as number
    const weight = (edgeTricube[row + tap] as number) * (weights[index] as number)
    const weightX = weight * x
    sum += weight
    sumX += weightX
    sumXx += weightX * x
    sumY += weight * value
    sumXy += weightX * value
    index += step
  }
  keepSums(plan, sum, sumX, sumXx, sumY, sumXy)
  return fitFromSums(plan, values, weights, fromEnd, first, step)
}

function keepSums({ sums }: LoessPlan, sum: number, sumX: number, sumXx: number, sumY: number, sumXy: number): void {
  sums[0] = sum
  sums[1] = sumX
  sums[2] = sumXx
  sums[3] = sumY
  sums[4] = sumXy
}

/** The fitted line at the position itself, from weighted sums over offsets x from it; NaN without any weight. */
function fitFromSums(
  plan: LoessPlan,
  values: Float64Array,
  weights: Float64Array,
  fromEnd: number,
  first: number,
  step: number,
): number {
  const { sums, varianceMin } = plan
  const sum = sums[0] as number
  if (sum <= 0) return Number.NaN
  const meanX = (sums[1] as number) / sum
  const meanY = (sums[3] as number) / sum
  let variance = (sums[2] as number) / sum - meanX * meanX
  let covariance = (sums[4] as number) / sum - meanX * meanY
  if (variance < 1e-3 * meanX * meanX) {
    // One far value has nearly all the weight, and the differences have lost their digits (errors of 1e-8 of the range
    // occurred).
    measureSpread(plan, values, weights, fromEnd, first, step)
    variance = (sums[2] as number) / sum
    covariance = (sums[4] as number) / sum
  }
  return variance > varianceMin ? meanY - (meanX / variance) * covariance : meanY
}

/** Second moments around the means: exact where `fitFromSums` subtracts nearly equal numbers. */
function measureSpread(
  { taps, edgeTricube, sums }: LoessPlan,
  values: Float64Array,
  weights: Float64Array,
  fromEnd: number,
  first: number,
  step: number,
): void {
  const row = (fromEnd + 1) * taps
  const meanX = (sums[1] as number) / (sums[0] as number)
  const meanY = (sums[3] as number) / (sums[0] as number)
  let sumXx = 0
  let sumXy = 0
  let index = first
  for (let tap = 0; tap < taps; tap++) {
    const x = tap - fromEnd - meanX
    const weightX = (edgeTricube[row + tap] as number) * (weights[index] as number) * x
    sumXx += weightX * x
    sumXy += weightX * ((values[index] as number) - meanY)
    index += step
  }
  sums[2] = sumXx
  sums[4] = sumXy
}
