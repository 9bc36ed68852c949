/**
 * Loess of degree 1 on evenly spaced values, as STL uses it: at each position a line is fitted to the nearest `window`
 * values, weighted by the tricube of their distance and, if given, by their robustness. Positions −1 and n continue
 * the line beyond both ends. Source: Cleveland and others, "STL", Journal of Official Statistics 6 (1990).
 */

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

/**
 * The fixed part of loess over evenly spaced values: distance weights and, for values that all weigh the same, finished
 * coefficients. They depend on the lengths only and are shared by the dozens of passes that STL makes over one series.
 *
 * The weight is Cleveland's tricube (1 − (d/h)³)³ of the distance d and the reach h of the window. As in the netlib
 * routine `est` that statsmodels follows, it is 1 within a thousandth of h and 0 beyond 0.999 h; a window longer than
 * the series widens h by half of the difference. Only a constant is fitted where the weighted spread of the positions
 * is at most a thousandth of the series' length.
 */

export interface LoessPlan {
  readonly length: number
  /** Values per fit. */
  readonly taps: number
  /** Number of positions at each end whose window is not centred. */
  readonly edge: number
  /**
   * Distance weights of the windows at the left end, one row a position from −1; mirrored they serve the right end. The
   * last row is a centred window's.
   */
  readonly edgeTricube: Float64Array
  /** The same rows as finished coefficients for values that all weigh the same. */
  readonly edgeCoefficients: Float64Array
  /** Distance weights of a centred window, by distance. */
  readonly tricube: Float64Array
  readonly coefficients: Float64Array
  /** Below this weighted variance of the positions, a constant is fitted. */
  readonly varianceMin: number
  /** Buffers for weights times values of one pass, and for the five weighted sums of one fit. */
  readonly products: Float64Array
  readonly sums: Float64Array
}

/** Plans the smoothing of `length` (at least 1) values by an odd window of at least 3. */
export function planLoess(length: number, window: number): LoessPlan {
  if (length < 1 || window < 3 || window % 2 === 0)
    throw new RangeError(`invalid loess window ${window} for ${length} values`)
  const taps = Math.min(window, length)
  const half = (window - 1) / 2
  const edge = window >= length ? Math.ceil(length / 2) : half
  const varianceMin = (0.001 * (length - 1)) ** 2
  const widening = window > length ? Math.floor((window - length) / 2) : 0
  const edgeTricube = new Float64Array((edge + 2) * taps)
  const edgeCoefficients = new Float64Array(edgeTricube.length)
  for (let position = -1; position <= edge; position++) {
    const from = (position + 1) * taps
    const row = edgeTricube.subarray(from, from + taps)
    const reach = Math.max(position, taps - 1 - position) + widening
    for (let tap = 0; tap < taps; tap++) row[tap] = tricubeOf(Math.abs(tap - position), reach)
    edgeCoefficients.set(rowCoefficients(row, position, varianceMin), from)
  }
  const tricube = Float64Array.from({ length: half + 1 }, (_, distance) => tricubeOf(distance, half)).filter(w => w > 0)
  // A centred window is symmetric, so its line passes through the weighted mean: the slope does not matter.
  const sum = tricube.reduce((total, weight, distance) => total + (distance === 0 ? weight : 2 * weight), 0)
  const coefficients = tricube.map(weight => weight / sum)
  const products = new Float64Array(length)
  const sums = new Float64Array(5)
  return { length, taps, edge, edgeTricube, edgeCoefficients, tricube, coefficients, varianceMin, products, sums }
}

function tricubeOf(distance: number, reach: number): number {
  if (distance > 0.999 * reach) return 0
  if (distance <= 0.001 * reach) return 1
  return (1 - (distance / reach) ** 3) ** 3
}

function rowCoefficients(row: Float64Array, position: number, varianceMin: number): Float64Array {
  const sum = row.reduce((total, weight) => total + weight, 0)
  const mean = row.reduce((total, weight, tap) => total + weight * (tap - position), 0) / sum
  const variance = row.reduce((total, weight, tap) => total + weight * (tap - position - mean) ** 2, 0) / sum
  const slope = variance > varianceMin ? -mean / variance : 0
  return row.map((weight, tap) => (weight / sum) * (1 + slope * (tap - position - mean)))
}
