/**
 * Quantiles of type 7 (Hyndman and Fan 1996; the default of numpy, pandas and R): with h = (n − 1)p, linear between the
 * values of rank ⌊h⌋ and ⌈h⌉. By selection, which is linear in n, instead of sorting.
 */

/**
 * Quantiles of `values[from, to)`, NaN being missing; all NaN when there is no value. The probabilities ascend within
 * [0, 1]. The values stay as they are.
 */
export function quantiles(
  values: Float64Array,
  probabilities: readonly number[],
  from = 0,
  to = values.length,
): number[] {
  const present = new Float64Array(to - from)
  let count = 0
  for (let index = from; index < to; index++) {
    const value = values[index] as number
    if (!Number.isNaN(value)) present[count++] = value
  }
  return quantilesInPlace(present.subarray(0, count), probabilities)
}

export function quantile(values: Float64Array, probability: number): number {
  return quantiles(values, [probability])[0] as number
}

export function median(values: Float64Array): number {
  return quantile(values, 0.5)
}

/** As `quantiles`, of values without NaN, whose order is lost. */
export function quantilesInPlace(values: Float64Array, probabilities: readonly number[]): number[] {
  const last = values.length - 1
  if (last < 0) return probabilities.map(() => Number.NaN)
  // Everything left of a selected rank is at most its value, so the next search begins there.
  let sortedTo = 0
  return probabilities.map(probability => {
    const place = last * probability
    const rank = Math.floor(place)
    const low = select(values, rank, sortedTo, last)
    sortedTo = rank
    const share = place - rank
    if (share === 0) return low
    const high = smallest(values, rank + 1)
    // As numpy: from the nearer end, so that the result never leaves [low, high].
    return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share)
  })
}

function smallest(values: Float64Array, from: number): number {
  let least = values[from] as number
  for (let index = from + 1; index < values.length; index++) {
    const value = values[index] as number
    if (value < least) least = value
  }
  return least
}

/** Puts the value of this rank in its place, smaller ones before it and larger ones behind, between `left` and `right`. */
function select(values: Float64Array, rank: number, left: number, right: number): number {
  let low = left
  let high = right
  while (low < high) {
    const split = partition(values, low, high)
    if (rank <= split) high = split
    else low = split + 1
  }
  return values[rank] as number
}

/**
 * Hoare's partition: nothing up to the place that it returns is larger than anything behind it, and both sides have
 * values. The median of three as pivot keeps sorted and constant series linear.
 */
function partition(values: Float64Array, low: number, high: number): number {
  const pivot = medianOfThree(values[low] as number, values[(low + high) >> 1] as number, values[high] as number)
  let up = low
  let down = high
  for (;;) {
    while ((values[up] as number) < pivot) up++
    while ((values[down] as number) > pivot) down--
    if (up >= down) return down
    const swapped = values[up] as number
    values[up++] = values[down] as number
    values[down--] = swapped
  }
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
}
