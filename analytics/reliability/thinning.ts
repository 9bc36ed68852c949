/** Removes retries and bursts from a list of times, so that they cannot look like a faster cadence or hide a loss. */

/**
 * Keeps the first time, then each that comes at least `distanceMs` after the last kept one; equal times are always kept
 * once. Times ascend. When none is dropped, the result is the same array.
 */
export function thin(timesMs: Float64Array, distanceMs: number): Float64Array {
  if (areApart(timesMs, distanceMs)) return timesMs
  const kept = new Float64Array(timesMs.length)
  let count = 0
  let last = Number.NEGATIVE_INFINITY
  for (let index = 0; index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    if (timeMs <= last || timeMs - last < distanceMs) continue
    kept[count++] = timeMs
    last = timeMs
  }
  return kept.subarray(0, count)
}

function areApart(timesMs: Float64Array, distanceMs: number): boolean {
  for (let index = 1; index < timesMs.length; index++) {
    const apartMs = (timesMs[index] as number) - (timesMs[index - 1] as number)
    if (apartMs <= 0 || apartMs < distanceMs) return false
  }
  return true
}

/** From each time to the next, one fewer than there are times. */
export function differences(timesMs: Float64Array): Float64Array<ArrayBuffer> {
  const result = new Float64Array(Math.max(0, timesMs.length - 1))
  for (let index = 0; index < result.length; index++) {
    result[index] = (timesMs[index + 1] as number) - (timesMs[index] as number)
  }
  return result
}
