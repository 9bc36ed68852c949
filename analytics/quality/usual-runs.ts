/**
 * How long a sensor usually stands still: a sensor with coarse steps, or one in a cellar, does so for hours where
 * another one would be broken. A run is a stretch of readings whose spread stays below a limit, from its first to its
 * last reading; single readings are runs of length 0.
 *
 * The runs' 99.9 % quantile is extrapolated from their 90 % and 99 % quantiles (50 and 90 % where runs are few) with an
 * exponential tail, as for changes at random times: each tenth of the probability adds the same length. So a broken
 * sensor's run, one of many, does not raise its own limit, as it would with the quantile itself. Twice that length is
 * suspect, as the tails of real stations are heavier: among 8,760 hours of three metrics at two stations, the longest
 * run of each is 1.1 to 2.3 times the extrapolated quantile.
 */

import { quantilesInPlace } from '../summary/quantile.ts'
import type { FlatWithin } from './quality-limits.ts'

/** Number of runs that show a usual length, and number that shows its upper hundredth. */
const runsMin = 10
const manyRuns = 100
const usualTimes = 2
/** Equal readings of a sensor with longer runs have little significance. */
const medianMaxMs = 3_600_000

/** Null with fewer than ten runs, because the usual length is unknown. Arguments as in `flatLines`. */
export function unusualRunMs(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  within: FlatWithin,
  isGapBefore: Uint8Array,
): number | null {
  const lengths = runLengths(timesMs, values, limit, within, isGapBefore)
  if (lengths.length < runsMin) return null
  return usualTimes * extrapolated(lengths).usualMs
}

/**
 * The same for a sensor with an unknown spread, so that equal readings alone are a run. Null with fewer than 100 runs
 * beside the longest, and where half of them last for more than an hour, as at a set point. At least twice the length
 * of the longest of the others, because nights are alike.
 */
export function unusualStandMs(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  within: FlatWithin,
  isGapBefore: Uint8Array,
): number | null {
  const others = runLengths(timesMs, values, limit, within, isGapBefore).sort().subarray(0, -1)
  if (others.length < manyRuns) return null
  const longestMs = others.at(-1) as number
  const { medianMs, usualMs } = extrapolated(others)
  return medianMs > medianMaxMs ? null : usualTimes * Math.max(longestMs, usualMs)
}

function extrapolated(lengths: Float64Array): { readonly medianMs: number; readonly usualMs: number } {
  const [q50, q90, q99] = quantilesInPlace(lengths, [0.5, 0.9, 0.99]) as [number, number, number]
  const usualMs = lengths.length < manyRuns ? q90 + (2 * (q90 - q50)) / Math.log10(5) : q90 + 2 * (q99 - q90)
  return { medianMs: q50, usualMs }
}

/** Each run begins where the one before it ends. */
function runLengths(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  [above, below]: FlatWithin,
  isGapBefore: Uint8Array,
): Float64Array {
  const lengths = new Float64Array(values.length)
  let count = 0
  let start = 0
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let index = 0; index <= values.length; index++) {
    const value = values[index] ?? Number.POSITIVE_INFINITY
    const isWithin = Math.max(max, value) - Math.min(min, value) < limit
    if (index > start && !(isWithin && value < below && value > above && isGapBefore[index] === 0)) {
      if ((values[start] as number) < below && (values[start] as number) > above)
        lengths[count++] = (timesMs[index - 1] as number) - (timesMs[start] as number)
      start = index
      ;[min, max] = [value, value]
    }
    min = Math.min(min, value)
    max = Math.max(max, value)
  }
  return lengths.subarray(0, count)
}
