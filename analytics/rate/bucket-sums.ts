/**
 * Sums of a quantity that each sample has for an interval, such as rain in 5 minutes. The interval ends at the sample's
 * time, as WMO-No. 8 dates amounts, so a bucket has the samples in (start, end]: midnight's sample fell the day before.
 * pandas: `resample(closed='right').sum(min_count=1)`.
 *
 * A sum includes only received samples; missing ones show in the coverage.
 */

import { CompensatedSum, compensatedSum } from '../compensated-sum.ts'
import { upperBound } from '../lower-bound.ts'
import { presentOf, type Samples } from '../present.ts'
import { type Cadence, expectedBetween } from '../reliability/cadence.ts'
import { arrivalsOf, coverageMin } from '../reliability/coverage.ts'
import type { Bucket } from '../summary/aggregates.ts'

export interface RateInput extends Samples {
  readonly cadence: Cadence
  readonly nowMs: number
}

interface BucketSum {
  readonly count: number
  /** The sum is in the quantity's unit; null without a sample. It is less than the total where samples are missing. */
  readonly sum: number | null
  /** The largest sample, and the end of its interval. */
  readonly max: number | null
  readonly max_at_ms: number | null
  /**
   * The share of the expected samples that came, at most 1; in a running bucket, of the samples expected so far. Null
   * for an irregular device or an unknown interval. Samples closer than E/2 to the one before count in the sum alone.
   */
  readonly coverage: number | null
  /** Expected samples that did not come, rounded; null where the coverage is null. */
  readonly missing: number | null
  /** The coverage is known and at least 75 %. */
  readonly valid: boolean
}

/** The result has the order of the buckets. Times ascend, NaN is missing. */
export function bucketSums(input: RateInput, buckets: readonly Bucket[]): BucketSum[] {
  const { timesMs, values } = presentOf(input.timesMs, input.values)
  const { thinnedMs } = arrivalsOf(timesMs, input.cadence)
  return buckets.map(({ startMs, endMs }) => {
    const from = upperBound(timesMs, startMs)
    const to = upperBound(timesMs, endMs)
    const arrived = upperBound(thinnedMs, endMs) - upperBound(thinnedMs, startMs)
    const place = largestIn(values, from, to)
    return {
      count: to - from,
      sum: to === from ? null : compensatedSum(values, from, to),
      max: values[place] ?? null,
      max_at_ms: timesMs[place] ?? null,
      ...completenessOf(arrived, input.cadence, startMs, Math.min(endMs, input.nowMs)),
    }
  })
}

/** The first index of the largest value, −1 without any. */
function largestIn(values: Float64Array, from: number, to: number): number {
  let place = -1
  for (let index = from; index < to; index++) {
    if (place < 0 || (values[index] as number) > (values[place] as number)) place = index
  }
  return place
}

function completenessOf(
  arrived: number,
  cadence: Cadence,
  startMs: number,
  endMs: number,
): Pick<BucketSum, 'coverage' | 'missing' | 'valid'> {
  if (cadence.kind !== 'regular' || endMs <= startMs) return { coverage: null, missing: null, valid: false }
  const expected = expectedBetween(cadence, startMs, endMs)
  const coverage = Math.min(1, arrived / expected)
  return { coverage, missing: Math.max(0, Math.round(expected) - arrived), valid: coverage >= coverageMin }
}

/** `(start_ms, end_ms]`, ending with a sample. */
interface GreatestSum {
  /** The sum is in the quantity's unit. */
  readonly sum: number
  readonly start_ms: number
  readonly end_ms: number
  /** Samples in the window; where some are missing, the true sum may be larger. */
  readonly count: number
}

/**
 * Samples have ascending times, with NaN for missing ones; the earliest of equal sums counts. Every window that
 * contains a sample's time includes all of it. Null without a sample; throws a RangeError for a window without a
 * length.
 */
export function greatestSum(samples: Samples, windowMs: number): GreatestSum | null {
  if (!(windowMs > 0)) throw new RangeError(`invalid window length ${windowMs} ms`)
  const { timesMs, values } = presentOf(samples.timesMs, samples.values)
  const running = new CompensatedSum()
  let from = 0
  let best = { sum: Number.NEGATIVE_INFINITY, from: 0, to: 0 }
  for (let index = 0; index < timesMs.length; index++) {
    running.add(values[index] as number)
    while ((timesMs[from] as number) <= (timesMs[index] as number) - windowMs) running.add(-(values[from++] as number))
    if (running.total > best.sum) best = { sum: running.total, from, to: index + 1 }
  }
  if (best.to === 0) return null
  const end_ms = timesMs[best.to - 1] as number
  // Summed again: the running sum has the rounding of all samples before.
  const sum = compensatedSum(values, best.from, best.to)
  return { sum, start_ms: end_ms - windowMs, end_ms, count: best.to - best.from }
}
