/** One metric's figures per stretch of time: hours, local days, or the whole window. */

import type { Cadence } from './cadence.ts'
import { type Arrivals, arrivalsOf, coverageMin, coverageOf } from './coverage.ts'
import { lowerBound } from './lower-bound.ts'
import { momentsOf } from './moments.ts'
import { presentOf, type Samples } from './present.ts'
import { quantiles } from './quantile.ts'
import { timeWeightedMean } from './time-weighted-mean.ts'

const hourMs = 3_600_000

/** `[startMs, endMs)`, in UTC. */
export interface Bucket {
  readonly startMs: number
  readonly endMs: number
}

/** Null stands for what does not exist; only `count` always does. */
export interface Aggregate {
  readonly count: number
  readonly mean: number | null
  /** The time-weighted mean. */
  readonly tw_mean: number | null
  /** The mean of the hours with enough coverage, null when they are less than three quarters of the bucket. */
  readonly mean_of_hours: number | null
  readonly min: number | null
  readonly max: number | null
  /** When the smallest and the largest value were met first. */
  readonly min_at_ms: number | null
  readonly max_at_ms: number | null
  /** Null for a single value. */
  readonly std: number | null
  readonly median: number | null
  readonly p05: number | null
  readonly p95: number | null
  readonly first: number | null
  readonly last: number | null
  /** The share of the expected samples, of a bucket that is not over those expected so far. */
  readonly coverage: number | null
  /** Whether the coverage is known and at least 75 %. */
  readonly valid: boolean
}

/**
 * Times ascend, a missing value is NaN. Samples around the buckets, where they are known, make the time-weighted means
 * exact at the edges.
 */
export interface AggregateInput extends Samples {
  readonly cadence: Cadence
  readonly nowMs: number
}

/** In the buckets' order. Quantiles are of type 7, the spread is the sample one. */
export function aggregate(input: AggregateInput, buckets: readonly Bucket[]): Aggregate[] {
  // Without the missing ones no bucket has to look far for its neighbours, however long a sensor was silent.
  const present = { ...input, ...presentOf(input.timesMs, input.values) }
  const arrivals = arrivalsOf(present.timesMs, input.cadence)
  return buckets.map(bucket => aggregateOne(present, bucket, arrivals))
}

function aggregateOne(input: AggregateInput, bucket: Bucket, arrivals: Arrivals): Aggregate {
  const { timesMs, values, cadence, nowMs } = input
  const { startMs, endMs } = bucket
  const from = lowerBound(timesMs, startMs)
  const to = lowerBound(timesMs, endMs)
  const moments = momentsOf(values, from, to)
  const [p05, middle, p95] = quantiles(values, [0.05, 0.5, 0.95], from, to) as [number, number, number]
  const timeAt = (index: number) => (index < 0 ? null : (timesMs[index] as number))
  const coverage = coverageOf(arrivals, startMs, Math.min(endMs, nowMs), cadence)
  return {
    count: moments.count,
    mean: orNull(moments.mean),
    tw_mean: orNull(timeWeightedMean(timesMs, values, cadence.gapMs, startMs, endMs)),
    mean_of_hours: meanOfHours(input, bucket, arrivals),
    min: orNull(moments.min),
    max: orNull(moments.max),
    min_at_ms: timeAt(moments.minIndex),
    max_at_ms: timeAt(moments.maxIndex),
    std: orNull(moments.std),
    median: orNull(middle),
    p05: orNull(p05),
    p95: orNull(p95),
    first: orNull(moments.first),
    last: orNull(moments.last),
    coverage,
    valid: coverage !== null && coverage >= coverageMin,
  }
}

/**
 * In the spirit of the WMO's equally spaced observations. Hours are counted from the bucket's start, and one that is
 * not over is measured by its whole length; the 18 hours that a day of 24 needs scale with the day's length.
 */
function meanOfHours({ timesMs, values, cadence }: AggregateInput, bucket: Bucket, arrivals: Arrivals) {
  let sum = 0
  let hours = 0
  for (let startMs = bucket.startMs; startMs < bucket.endMs; startMs += hourMs) {
    const endMs = Math.min(startMs + hourMs, bucket.endMs)
    const coverage = coverageOf(arrivals, startMs, endMs, cadence)
    if (coverage === null || coverage < coverageMin) continue
    sum += momentsOf(values, lowerBound(timesMs, startMs), lowerBound(timesMs, endMs)).mean
    hours++
  }
  return hours > 0 && hours >= (coverageMin * (bucket.endMs - bucket.startMs)) / hourMs ? sum / hours : null
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}
