/** Binary search in ascending times. */

/** The index of the first time that is `timeMs` or later. The length when there is none. */
export function lowerBound(timesMs: Float64Array, timeMs: number): number {
  let low = 0
  let high = timesMs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((timesMs[middle] as number) < timeMs) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of the first time that is later than `timeMs`. */
export function upperBound(timesMs: Float64Array, timeMs: number): number {
  let place = lowerBound(timesMs, timeMs)
  while (place < timesMs.length && timesMs[place] === timeMs) place++
  return place
}
