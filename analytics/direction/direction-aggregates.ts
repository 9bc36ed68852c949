/** A direction's figures per stretch of time, such as hours or local days. */

import { lowerBound } from '../lower-bound.ts'
import type { Samples } from '../present.ts'
import type { Bucket } from '../summary/aggregates.ts'
import { type CircularSummary, circularSummary } from './circular-summary.ts'
import { type VectorMean, vectorMean } from './vector-mean.ts'

/**
 * In the buckets' order. Times ascend, values are degrees, NaN is missing. A sample counts for the bucket that its time is
 * in, and for as much as any other.
 */
export function directionAggregates({ timesMs, values }: Samples, buckets: readonly Bucket[]): CircularSummary[] {
  return buckets.map(({ startMs, endMs }) =>
    circularSummary(values, undefined, lowerBound(timesMs, startMs), lowerBound(timesMs, endMs)),
  )
}

/** As `directionAggregates`, of pairs: `speeds` are as many as directions, else a RangeError. */
export function vectorAggregates(
  { timesMs, values }: Samples,
  speeds: Float64Array,
  buckets: readonly Bucket[],
): VectorMean[] {
  return buckets.map(({ startMs, endMs }) =>
    vectorMean(values, speeds, lowerBound(timesMs, startMs), lowerBound(timesMs, endMs)),
  )
}
