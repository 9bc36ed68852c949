/** One metric's figures per stretch of time: hours, local days, or the whole window. */

import { lowerBound } from '../lower-bound.ts'
import { orNull } from '../or-null.ts'
import { presentOf, type Samples } from '../present.ts'
import type { Cadence } from '../reliability/cadence.ts'
import { type Arrivals, arrivalsOf, coverageMin, coverageOf } from '../reliability/coverage.ts'
import { type Moments, momentsOf } from './moments.ts'
import { quantiles } from './quantile.ts'
import { timeWeightedMean } from './time-weighted-mean.ts'

const hourMs = 3_600_000

/** `[startMs, endMs)`, in UTC. */
export interface Bucket {
  readonly startMs: number
  readonly endMs: number
}

/** Null stands for missing figures. Only `count` always exists. */
export interface Summary {
  readonly count: number
  readonly mean: number | null
  /** The time-weighted mean. */
  readonly tw_mean: number | null
  /** The mean of the hours with enough coverage, null when they are less than three quarters of the bucket. */
  readonly mean_of_hours: number | null
  readonly min: number | null
  readonly max: number | null
  /** Time of the first smallest and the first largest value. */
  readonly min_at_ms: number | null
  readonly max_at_ms: number | null
  /** Null for a single value. */
  readonly std: number | null
  /** The share of the expected samples; in a running bucket, of the samples expected so far. */
  readonly coverage: number | null
  /** The coverage is known and at least 75 %. */
  readonly valid: boolean
}

/** Includes figures that a summary omits: a year's quantiles take as long as all its other figures. */
export interface Aggregate extends Summary {
  readonly median: number | null
  readonly p05: number | null
  readonly p95: number | null
  readonly first: number | null
  readonly last: number | null
}

/** Times ascend, a missing value is NaN. Samples around the buckets make the time-weighted means exact at the edges. */
export interface AggregateInput extends Samples {
  readonly cadence: Cadence
  readonly nowMs: number
}

/** In the buckets' order. The spread is the sample standard deviation. */
export function summarise(input: AggregateInput, buckets: readonly Bucket[]): Summary[] {
  const { present, arrivals } = prepare(input)
  return buckets.map(bucket => summaryOf(present, bucket, arrivals, momentsIn(present, bucket)))
}

/** The same as `summarise`, with quantiles of type 7. */
export function aggregate(input: AggregateInput, buckets: readonly Bucket[]): Aggregate[] {
  const { present, arrivals } = prepare(input)
  return buckets.map(bucket => {
    const moments = momentsIn(present, bucket)
    const [from, to] = placesIn(present, bucket)
    const [p05, median, p95] = quantiles(present.values, [0.05, 0.5, 0.95], from, to) as [number, number, number]
    return {
      ...summaryOf(present, bucket, arrivals, moments),
      median: orNull(median),
      p05: orNull(p05),
      p95: orNull(p95),
      first: orNull(moments.first),
      last: orNull(moments.last),
    }
  })
}

/** Without missing values, neighbours of a bucket are found quickly, even after a long silence of the sensor. */
function prepare(input: AggregateInput): { present: AggregateInput; arrivals: Arrivals } {
  const present = { ...input, ...presentOf(input.timesMs, input.values) }
  return { present, arrivals: arrivalsOf(present.timesMs, input.cadence) }
}

function placesIn({ timesMs }: Samples, { startMs, endMs }: Bucket): [from: number, to: number] {
  return [lowerBound(timesMs, startMs), lowerBound(timesMs, endMs)]
}

function momentsIn(samples: Samples, bucket: Bucket): Moments {
  return momentsOf(samples.values, ...placesIn(samples, bucket))
}

function summaryOf(input: AggregateInput, bucket: Bucket, arrivals: Arrivals, moments: Moments): Summary {
  const { timesMs, values, cadence, nowMs } = input
  const { startMs, endMs } = bucket
  const timeAt = (index: number) => (index < 0 ? null : (timesMs[index] as number))
  const coverage = coverageOf(arrivals, startMs, Math.min(endMs, nowMs), cadence)
  return {
    count: moments.count,
    mean: orNull(moments.mean),
    tw_mean: orNull(timeWeightedMean(timesMs, values, cadence.stretches, startMs, endMs)),
    mean_of_hours: meanOfHours(input, bucket, arrivals),
    min: orNull(moments.min),
    max: orNull(moments.max),
    min_at_ms: timeAt(moments.minIndex),
    max_at_ms: timeAt(moments.maxIndex),
    std: orNull(moments.std),
    coverage,
    valid: coverage !== null && coverage >= coverageMin,
  }
}

/**
 * Follows the WMO's equally spaced observations. Hours are counted from the bucket's start, and a running one is
 * measured by its whole length. The 18 hours that a day of 24 needs scale with the day's length.
 */
function meanOfHours({ timesMs, values, cadence }: AggregateInput, bucket: Bucket, arrivals: Arrivals): number | null {
  const means: number[] = []
  for (let startMs = bucket.startMs; startMs < bucket.endMs; startMs += hourMs) {
    const endMs = Math.min(startMs + hourMs, bucket.endMs)
    const coverage = coverageOf(arrivals, startMs, endMs, cadence)
    if (coverage === null || coverage < coverageMin) continue
    means.push(momentsIn({ timesMs, values }, { startMs, endMs }).mean)
  }
  const isEnough = means.length >= (coverageMin * (bucket.endMs - bucket.startMs)) / hourMs
  return isEnough ? orNull(momentsOf(Float64Array.from(means)).mean) : null
}
