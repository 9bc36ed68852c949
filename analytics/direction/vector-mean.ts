/**
 * The mean of directions paired with speeds, such as wind: unlike in a mean of directions alone, a gale counts more
 * than a breath.
 *
 * Source: WMO-No. 8, Guide to Instruments and Methods of Observation, volume I, chapter 5: a direction is where the
 * wind comes from, clockwise from north, so u = −V sin θ blows to the east and v = −V cos θ to the north. Steadiness is
 * the ratio of the two means of the speed, S. C. Panofsky and G. W. Brier, Some Applications of Statistics to
 * Meteorology (1958).
 */

import { CompensatedSum } from '../compensated-sum.ts'
import { lowerBound } from '../lower-bound.ts'
import type { Samples } from '../present.ts'
import type { Bucket } from '../summary/aggregates.ts'
import { type CircularSummary, circularSummary, resultantMin } from './circular-summary.ts'
import { cosineOf, directionOf, normaliseDegrees, sineOf } from './degrees.ts'

/** Speeds in their own unit; null without a pair, except for the count. */
export interface VectorMean {
  /** Pairs of a finite direction and a speed of 0 or more. */
  readonly count: number
  /** The mean of the speeds, regardless of their directions. */
  readonly mean_speed: number | null
  /** Means of the components towards the east and the north. */
  readonly mean_u: number | null
  readonly mean_v: number | null
  /** The length of the mean vector. */
  readonly vector_speed: number | null
  /** Origin of the mean vector, within [0, 360); null also where the vectors cancel out or all speeds are 0. */
  readonly vector_direction_degrees: number | null
  /** `vector_speed` / `mean_speed`, 0 to 1; null also where all speeds are 0. */
  readonly steadiness: number | null
}

/**
 * Uses `[from, to)` of two columns of one length, else throws a RangeError. Directions may be any number of turns.
 * Pairs with a missing direction, or with a missing or negative speed, are ignored.
 */
export function vectorMean(degrees: Float64Array, speeds: Float64Array, from = 0, to = degrees.length): VectorMean {
  if (speeds.length !== degrees.length) throw new RangeError(`${speeds.length} speeds for ${degrees.length} directions`)
  const all = new CompensatedSum()
  const easts = new CompensatedSum()
  const norths = new CompensatedSum()
  let count = 0
  for (let index = from; index < to; index++) {
    const angle = normaliseDegrees(degrees[index] as number)
    const speed = speeds[index] as number
    if (Number.isNaN(angle) || !(speed >= 0 && speed < Number.POSITIVE_INFINITY)) continue
    count++
    all.add(speed)
    easts.add(-speed * sineOf(angle))
    norths.add(-speed * cosineOf(angle))
  }
  if (count === 0) return { count, ...nothing }
  return vectorOf(count, all.total / count, easts.total / count, norths.total / count)
}

const nothing = {
  mean_speed: null,
  mean_u: null,
  mean_v: null,
  vector_speed: null,
  vector_direction_degrees: null,
  steadiness: null,
}

function vectorOf(count: number, meanSpeed: number, meanU: number, meanV: number): VectorMean {
  const vectorSpeed = Math.hypot(meanU, meanV)
  const steadiness = meanSpeed === 0 ? null : Math.min(1, vectorSpeed / meanSpeed)
  const hasDirection = steadiness !== null && steadiness >= resultantMin
  return {
    count,
    mean_speed: meanSpeed,
    mean_u: meanU,
    mean_v: meanV,
    vector_speed: vectorSpeed,
    vector_direction_degrees: hasDirection ? directionOf(-meanU, -meanV) : null,
    steadiness,
  }
}

/**
 * The result has the order of the buckets. Times ascend, values are degrees, NaN is missing. Each sample counts once,
 * in the bucket of its time.
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
