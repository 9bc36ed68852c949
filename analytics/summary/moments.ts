/** Count, mean, spread, extremes and ends of a series without missing values, in two plain passes. */

/** NaN stands for missing figures: all but the count of an empty series, and `std` of a single value. */
export interface Moments {
  readonly count: number
  readonly mean: number
  /** The sample standard deviation, divided by n − 1. */
  readonly std: number
  readonly min: number
  readonly max: number
  readonly first: number
  readonly last: number
  /** Indexes of the earliest smallest and largest value, −1 without any. */
  readonly minIndex: number
  readonly maxIndex: number
}

/**
 * Uses `values[from, to)`, with NaN for missing ones. The mean is summed as distances from the first value and the
 * spread by the corrected two-pass algorithm (Chan, Golub and LeVeque 1983): 1013 ± 0.3 hPa would lose six digits in
 * plain sums.
 */
export function momentsOf(values: Float64Array, from = 0, to = values.length): Moments {
  let count = 0
  let sum = 0
  let first = Number.NaN
  let last = Number.NaN
  let minIndex = -1
  let maxIndex = -1
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (let index = from; index < to; index++) {
    const value = values[index] as number
    if (Number.isNaN(value)) continue
    if (count++ === 0) first = value
    last = value
    sum += value - first
    if (value < min) {
      min = value
      minIndex = index
    }
    if (value > max) {
      max = value
      maxIndex = index
    }
  }
  if (count === 0) {
    const none = Number.NaN
    return { count, mean: none, std: none, min: none, max: none, first, last, minIndex, maxIndex }
  }
  const mean = first + sum / count
  return { count, mean, std: sampleStd(values, from, to, mean, count), min, max, first, last, minIndex, maxIndex }
}

function sampleStd(values: Float64Array, from: number, to: number, mean: number, count: number): number {
  if (count < 2) return Number.NaN
  let sum = 0
  let squares = 0
  for (let index = from; index < to; index++) {
    const distance = (values[index] as number) - mean
    if (Number.isNaN(distance)) continue
    sum += distance
    squares += distance * distance
  }
  return Math.sqrt(Math.max(0, squares - (sum * sum) / count) / (count - 1))
}

/**
 * True for a series without a meaningful spread: its extremes are equal, or its variance is rounding of equal values,
 * (1e-12·max|x|)² or less. A correlation or a strength of such a series consists of rounding errors. An empty series is
 * not constant.
 */
export function isConstant({ min, max, std }: Moments): boolean {
  return min === max || std <= 1e-12 * Math.max(Math.abs(min), Math.abs(max))
}

/** True if the remainder of these values is only the rounding of the subtraction. */
export function isRounding(rest: Float64Array, values: Float64Array): boolean {
  const { min, max } = momentsOf(values)
  return !(momentsOf(rest).std > 1e-12 * Math.max(Math.abs(min), Math.abs(max)))
}

export interface ObservedSpread {
  readonly mean: number
  /** Population standard deviation of the observed values; 0 when they are all equal. */
  readonly deviation: number
  readonly observed: number
}

/** Mean and population standard deviation of the observed values. */
export function spreadOf(moments: Moments): ObservedSpread {
  const { count, mean, std } = moments
  return { mean, deviation: isConstant(moments) ? 0 : std * Math.sqrt((count - 1) / count), observed: count }
}
