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
