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

/** The same as `quantiles`, for values without NaN. It changes their order. */
export function quantilesInPlace(values: Float64Array, probabilities: readonly number[]): number[] {
  const last = values.length - 1
  if (last < 0) return probabilities.map(() => Number.NaN)
  const places = probabilities.map(probability => last * probability)
  const ranks = places.map(Math.floor)
  selectAll(values, [...new Set(ranks)], 0, last)
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

/** `select` for ascending ranks, each once: the middle one first, since it divides the search for the others. */
function selectAll(values: Float64Array, ranks: readonly number[], left: number, right: number): void {
  const middle = ranks.length >> 1
  const rank = ranks[middle]
  if (rank === undefined) return
  select(values, rank, left, right)
  selectAll(values, ranks.slice(0, middle), left, rank - 1)
  selectAll(values, ranks.slice(middle + 1), rank + 1, right)
}

/** Arrays of this length and more are searched in a sample first. */
const sampledMin = 600

/**
 * Moves the value of this rank to its index, smaller ones before it and larger ones behind, between `left` and `right`
 * (Floyd and Rivest 1975). The pivot is the value of the same share of a sample around the rank, so that about 1.5 n
 * values are compared.
 */
function select(values: Float64Array, rank: number, left: number, right: number): void {
  let low = left
  let high = right
  while (low < high) {
    if (high - low >= sampledMin) selectInSample(values, rank, low, high)
    const place = partition(values, rank, low, high)
    if (place <= rank) low = place + 1
    if (place >= rank) high = place - 1
  }
}

function selectInSample(values: Float64Array, rank: number, low: number, high: number): void {
  const length = high - low + 1
  const logLength = Math.log(length)
  const sample = 0.5 * Math.exp((2 * logLength) / 3)
  const share = (rank - low + 1) / length
  // The sample's own rank may be off by its error, towards the middle.
  const error = 0.5 * Math.sqrt((logLength * sample * (length - sample)) / length) * Math.sign(share - 0.5)
  const from = Math.max(low, Math.floor(rank - share * sample + error))
  const to = Math.min(high, Math.floor(rank + (1 - share) * sample + error))
  select(values, rank, from, to)
}

/** Takes the value at `rank` as pivot and returns its final index; nothing before it is larger, nothing behind smaller. */
function partition(values: Float64Array, rank: number, low: number, high: number): number {
  const pivot = values[rank] as number
  values[rank] = values[low] as number
  values[low] = pivot
  // One end has the pivot, and the other one stops the first walk.
  if ((values[high] as number) > pivot) swap(values, low, high)
  let up = low
  let down = high
  while (up < down) {
    swap(values, up++, down--)
    while ((values[up] as number) < pivot) up++
    while ((values[down] as number) > pivot) down--
  }
  if (values[low] === pivot) swap(values, low, down)
  else swap(values, ++down, high)
  return down
}

function swap(values: Float64Array, a: number, b: number): void {
  const value = values[a] as number
  values[a] = values[b] as number
  values[b] = value
}
