/** A direction's figures per stretch of time, such as hours or local days. */

import { lowerBound } from '../lower-bound.ts'
import type { Samples } from '../present.ts'
import type { Bucket } from '../summary/aggregates.ts'
import { type CircularSummary, circularSummary } from './circular-summary.ts'
import { type VectorMean, vectorMean } from './vector-mean.ts'

/**
 * In the buckets' order. Times ascend, values are degrees, NaN is missing. Each sample counts once, in the bucket of
 * its time.
 */
export function directionAggregates({ timesMs, values }: Samples, buckets: readonly Bucket[]): CircularSummary[] {
  return buckets.map(({ startMs, endMs }) =>
    circularSummary(values, undefined, lowerBound(timesMs, startMs), lowerBound(timesMs, endMs)),
  )
}

/** The same as `directionAggregates`, for pairs; throws a RangeError unless `speeds` has one for each direction. */
export function vectorAggregates(
  { timesMs, values }: Samples,
  speeds: Float64Array,
  buckets: readonly Bucket[],
): VectorMean[] {
  return buckets.map(({ startMs, endMs }) =>
    vectorMean(values, speeds, lowerBound(timesMs, startMs), lowerBound(timesMs, endMs)),
  )
}
