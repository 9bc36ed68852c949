/**
 * The increase of a running total in each hour or local day.
 *
 * The total grows evenly between two samples: an interval over the edge of a bucket is divided by time, along the line
 * through the samples. An interval longer than G is a gap, in which the total may have grown at any moment. Over an
 * edge its increase is known but belongs to neither bucket, and is listed separately. Increases within one bucket
 * always count there. So adjoining buckets that cover all samples, and the separate increases, add up to the increase
 * of the series.
 */

import { CompensatedSum } from '../compensated-sum.ts'
import type { Samples } from '../present.ts'
import { type GapThresholds, StretchCursor } from '../reliability/cadence.ts'
import type { Bucket } from '../summary/aggregates.ts'
import { isFall, stepIncrease, withoutNoise } from './counter-increase.ts'

/** In the total's unit. */
interface BucketIncrease {
  /**
   * Null where the bucket has no covered time. With less than its whole length covered, the true increase may be
   * larger.
   */
  readonly increase: number | null
  /** Covered time of the bucket. */
  readonly covered_seconds: number
  /** Per second of the covered time; null without any. */
  readonly increase_per_second: number | null
  /** Resets first shown by a sample in the bucket. */
  readonly resets: number
}

/** Increase during a gap over the edge of a bucket. */
interface UnplacedIncrease {
  /** The samples on both sides of the gap. */
  readonly start_ms: number
  readonly end_ms: number
  readonly increase: number
}

export interface BucketIncreases {
  /** In the buckets' order. */
  readonly buckets: BucketIncrease[]
  /** Oldest first; each spans an edge, so there are at most twice as many as buckets. */
  readonly unplaced: UnplacedIncrease[]
}

/**
 * Samples have ascending, distinct times, with NaN for missing ones. Buckets ascend without overlap. Samples around the
 * buckets make the increases exact at the edges. Without a threshold every interval is a gap.
 */
export function bucketIncreases(samples: Samples, buckets: readonly Bucket[], gaps: GapThresholds): BucketIncreases {
  const { timesMs, values } = withoutNoise(samples)
  const tallies = buckets.map(() => new Tally())
  const unplaced: UnplacedIncrease[] = []
  const cursor = new StretchCursor(gaps)
  let place = 0
  for (let index = 1; index < timesMs.length; index++) {
    const startMs = timesMs[index - 1] as number
    const endMs = timesMs[index] as number
    const before = values[index - 1] as number
    const after = values[index] as number
    while (place < buckets.length && (buckets[place] as Bucket).endMs <= startMs) place++
    const bucket = buckets[place]
    if (bucket === undefined) break
    const isGap = endMs - startMs > (cursor.at(startMs)?.gapMs ?? 0)
    const growth = { startMs, endMs, increase: stepIncrease(before, after) }
    if (isGap && isOverEdge(bucket, growth)) unplaced.push(unplacedOf(growth))
    else divide(tallies, buckets, place, growth)
    if (isFall(before, after)) countReset(tallies, buckets, place, endMs)
  }
  return { buckets: tallies.map(tally => tally.result()), unplaced }
}

/** Sums of a bucket over the intervals so far. */
class Tally {
  readonly #increase = new CompensatedSum()
  #coveredMs = 0
  #intervals = 0
  resets = 0

  add(increase: number, coveredMs: number): void {
    this.#increase.add(increase)
    this.#coveredMs += coveredMs
    this.#intervals++
  }

  result(): BucketIncrease {
    const increase = this.#intervals === 0 ? null : this.#increase.total
    const seconds = this.#coveredMs / 1000
    const perSecond = increase === null || seconds === 0 ? null : increase / seconds
    return { increase, covered_seconds: seconds, increase_per_second: perSecond, resets: this.resets }
  }
}

/** The interval from one sample to the next. */
interface Growth extends Bucket {
  readonly increase: number
}

/** `bucket` is the first that ends after the growth's start. */
function isOverEdge(bucket: Bucket, { startMs, endMs }: Growth): boolean {
  return bucket.startMs < endMs && (startMs < bucket.startMs || bucket.endMs < endMs)
}

function unplacedOf({ startMs, endMs, increase }: Growth): UnplacedIncrease {
  return { start_ms: startMs, end_ms: endMs, increase }
}

/** Divides by time, among the buckets from index `from` on. */
function divide(tallies: readonly Tally[], buckets: readonly Bucket[], from: number, growth: Growth): void {
  const { startMs, endMs, increase } = growth
  for (let place = from; place < buckets.length; place++) {
    const bucket = buckets[place] as Bucket
    if (bucket.startMs >= endMs) break
    const sharedMs = Math.min(bucket.endMs, endMs) - Math.max(bucket.startMs, startMs)
    if (sharedMs > 0) (tallies[place] as Tally).add(increase * (sharedMs / (endMs - startMs)), sharedMs)
  }
}

/** Counts it in the bucket that contains the time, if any. */
function countReset(tallies: readonly Tally[], buckets: readonly Bucket[], from: number, timeMs: number): void {
  let place = from
  while (place < buckets.length && (buckets[place] as Bucket).endMs <= timeMs) place++
  const bucket = buckets[place]
  if (bucket !== undefined && bucket.startMs <= timeMs) (tallies[place] as Tally).resets++
}
