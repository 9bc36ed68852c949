/** One metric's figures per stretch of time: hours, local days, or the whole window. */

import { lowerBound } from '../lower-bound.ts'
import { orNull, presentOf, type Samples } from '../present.ts'
import { type Cadence, type GapThresholds, StretchCursor } from '../reliability/cadence.ts'
import { type Arrivals, arrivalsOf, coverageMin, coverageOf } from '../reliability/coverage.ts'
import { type Moments, momentsOf } from './moments.ts'
import { quantiles } from './quantile.ts'

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

/** The result has the order of the buckets. The spread is the sample standard deviation. */
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

/**
 * Mean of the samples in [startMs, endMs). Segments across an edge are cut there, at the line's value, so the arrays
 * should include the samples around the stretch. Without a segment it is the plain mean of the samples, NaN without
 * any. NaN values are missing; times ascend; without a threshold all intervals are gaps.
 */
export function timeWeightedMean(
  timesMs: Float64Array,
  values: Float64Array,
  gaps: GapThresholds,
  startMs = Number.NEGATIVE_INFINITY,
  endMs = Number.POSITIVE_INFINITY,
): number {
  const cursor = new StretchCursor(gaps)
  let timeBefore = Number.NaN
  let valueBefore = Number.NaN
  let origin = Number.NaN
  let count = 0
  let sum = 0
  let area = 0
  let lengthMs = 0
  for (let index = presentBefore(values, lowerBound(timesMs, startMs)); index < timesMs.length; index++) {
    const value = values[index] as number
    if (Number.isNaN(value)) continue
    const timeMs = timesMs[index] as number
    // Distances from the first value keep the digits, and keep the mean of equal values equal to them.
    if (Number.isNaN(origin)) origin = value
    const betweenMs = timeMs - timeBefore
    // Before the first sample it is NaN, which is not below anything.
    if (betweenMs > 0 && betweenMs <= (cursor.at(timeBefore)?.gapMs ?? 0)) {
      const fromMs = Math.max(timeBefore, startMs)
      const untilMs = Math.min(timeMs, endMs)
      const share = middleOf(timeBefore, timeMs, fromMs, untilMs)
      area += (untilMs - fromMs) * (valueBefore - origin + (value - valueBefore) * share)
      lengthMs += untilMs - fromMs
    }
    if (timeMs >= endMs) break
    if (timeMs >= startMs) {
      count++
      sum += value - origin
    }
    timeBefore = timeMs
    valueBefore = value
  }
  if (count === 0) return Number.NaN
  return origin + (lengthMs > 0 ? area / lengthMs : sum / count)
}

/** The position on a segment, 0 … 1, of the middle of a part of it: a line's mean over a stretch is its value there. */
function middleOf(startMs: number, endMs: number, fromMs: number, untilMs: number): number {
  // Nearly all segments are inside, and need no division.
  if (fromMs === startMs && untilMs === endMs) return 0.5
  return (fromMs - startMs + (untilMs - startMs)) / 2 / (endMs - startMs)
}

/** The index of the last value before this one, 0 without any. */
function presentBefore(values: Float64Array, place: number): number {
  for (let index = place - 1; index > 0; index--) if (!Number.isNaN(values[index] as number)) return index
  return 0
}
