/**
 * Quantiles of type 7 (Hyndman and Fan 1996; the default of numpy, pandas and R): with h = (n − 1)p, linear between the
 * values of rank ⌊h⌋ and ⌈h⌉. Selection is linear in n, unlike sorting.
 */

/**
 * Quantiles of `values[from, to)`, with NaN for missing ones; all NaN without a value. The probabilities ascend within
 * [0, 1]. The values stay unchanged.
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

/** The same as `quantiles`, for values without NaN; it changes their order. */
export function quantilesInPlace(values: Float64Array, probabilities: readonly number[]): number[] {
  const last = values.length - 1
  if (last < 0) return probabilities.map(() => Number.NaN)
  const places = probabilities.map(probability => last * probability)
  const ranks = places.map(Math.floor)
  selectAll(values, ranks, 0, last)
  return places.map((place, index) => {
    const rank = ranks[index] as number
    const low = values[rank] as number
    const share = place - rank
    if (share === 0) return low
    // Nothing behind the next selected rank is smaller than the values up to it.
    const high = smallest(values, rank + 1, ranks.find(other => other > rank) ?? last)
    // Interpolates from the nearer end, like numpy, so that the result never leaves [low, high].
    return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share)
  })
}

function smallest(values: Float64Array, from: number, to: number): number {
  let least = values[from] as number
  for (let index = from + 1; index <= to; index++) {
    const value = values[index] as number
    if (value < least) least = value
  }
  return least
}

/** `select` for ascending ranks: the middle one first, since it divides the search for the others. */
function selectAll(values: Float64Array, ranks: readonly number[], left: number, right: number): void {
  const middle = ranks.length >> 1
  const rank = ranks[middle]
  if (rank === undefined) return
  select(values, rank, left, right)
  selectAll(values, ranks.slice(0, middle), left, rank)
  selectAll(values, ranks.slice(middle + 1), rank, right)
}

/**
 * Moves the value of this rank to its index, smaller ones before it and larger ones behind, between `left` and `right`.
 */
function select(values: Float64Array, rank: number, left: number, right: number): void {
  let low = left
  let high = right
  while (low < high) {
    const split = partition(values, low, high)
    if (rank <= split) high = split
    else low = split + 1
  }
}

/**
 * Hoare's partition: nothing up to the returned index is larger than anything behind it, and both sides have values.
 * The median of three as pivot keeps sorted and constant series linear.
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
