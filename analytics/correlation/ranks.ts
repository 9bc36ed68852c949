/**
 * Mid-ranks, the ranks of Spearman's correlation: 1 for the smallest, and equal values share the mean of their ranks,
 * as in `scipy.stats.rankdata` with its default method.
 */

/** Values are compared after rounding to 12 significant digits: equal means differ in their last bit. */
const digitsCompared = 12

/** `values` must not contain NaN. O(n log n), with the platform's numeric sort instead of a comparison function. */
export function midRanks(values: Float64Array): Float64Array {
  const keys = values.map(roundSignificant)
  const sorted = keys.slice().sort()
  const ranks = new Float64Array(values.length)
  const firsts = new Float64Array(values.length)
  const shared = new Float64Array(values.length)
  let groups = 0
  for (let place = 0; place < sorted.length; ) {
    const key = sorted[place] as number
    const first = place
    while (place < sorted.length && sorted[place] === key) place++
    firsts[groups] = key
    shared[groups++] = (first + 1 + place) / 2
  }
  for (let i = 0; i < keys.length; i++) ranks[i] = shared[placeOf(firsts, groups, keys[i] as number)] as number
  return ranks
}

/** Index of `key` among the first `count` ascending `keys`, in which it occurs. */
function placeOf(keys: Float64Array, count: number, key: number): number {
  let low = 0
  let high = count - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as number) < key) low = middle + 1
    else high = middle
  }
  return low
}

function roundSignificant(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value
  const scale = 10 ** (digitsCompared - 1 - Math.floor(Math.log10(Math.abs(value))))
  // Beyond the range of powers of ten the value is far below anything measurable.
  return Number.isFinite(scale) ? Math.round(value * scale) / scale : 0
}
