/**
 * The increase of a running total. A restarted or replaced device counts from 0 again: such a reset adds the growth
 * from 0. A fall of less than a tenth that the next reading makes good is noise, and so is one reading of zero between
 * two that continue. Any other fall is a reset. A mean of a total is meaningless.
 *
 * Sources: Prometheus, `promql/functions.go`, `extrapolatedRate`, before it extrapolates; Home Assistant,
 * `components/sensor/recorder.py`, `reset_detected`, where only a fall of a tenth or more is a reset. The check of the
 * next reading is added here.
 */

import { CompensatedSum } from '../compensated-sum.ts'
import { upperBound } from '../lower-bound.ts'
import { presentOf, type Samples } from '../present.ts'
import { type GapThresholds, StretchCursor } from '../reliability/cadence.ts'
import type { Bucket } from '../summary/aggregates.ts'

/** Only the newest resets are listed. */
export const resetsMax = 50

/** A reset, at an unknown moment between two samples. */
interface CounterReset {
  /** The last sample before it. */
  readonly after_ms: number
  /** The first sample after it. */
  readonly until_ms: number
  /** Values of the two samples, in the total's unit. */
  readonly value_before: number
  readonly value_after: number
}

export interface CounterIncrease {
  readonly count: number
  /** Increase from the first sample to the last, in the total's unit; null with fewer than two. */
  readonly increase: number | null
  /** Seconds from the first sample to the last; 0 with fewer than two. */
  readonly span_seconds: number
  /** Newest first, at most 50; `resets_total` counts them all. */
  readonly resets: CounterReset[]
  readonly resets_total: number
}

/**
 * Samples have ascending times, with NaN for missing ones. With `sinceMs`, counts from the newest sample up to then.
 * The sample before shows whether that one is noise. Growth between the last sample and a reset is unknown.
 */
export function counterIncrease(samples: Samples, sinceMs = Number.NEGATIVE_INFINITY): CounterIncrease {
  const present = presentOf(samples.timesMs, samples.values)
  const count = present.timesMs.length - startOf(present.timesMs, sinceMs)
  const { timesMs, values } = withoutNoise(present)
  const start = startOf(timesMs, sinceMs)
  const sum = new CompensatedSum()
  const places: number[] = []
  for (let index = start + 1; index < values.length; index++) {
    const before = values[index - 1] as number
    const after = values[index] as number
    sum.add(stepIncrease(before, after))
    if (isFall(before, after)) places.push(index)
  }
  return {
    count,
    increase: count < 2 ? null : sum.total,
    span_seconds: count < 2 ? 0 : ((present.timesMs.at(-1) as number) - (timesMs[start] as number)) / 1000,
    resets: places
      .slice(-resetsMax)
      .toReversed()
      .map(place => resetAt({ timesMs, values }, place)),
    resets_total: places.length,
  }
}

function startOf(timesMs: Float64Array, sinceMs: number): number {
  return Math.max(0, upperBound(timesMs, sinceMs) - 1)
}

/**
 * Samples without missing ones and without noise. The last one lacks a next reading: a fall of less than a tenth counts
 * as noise for now, any other fall as a reset.
 */
export function withoutNoise(samples: Samples): Samples {
  const { timesMs, values } = presentOf(samples.timesMs, samples.values)
  const kept = values.slice()
  for (let index = 1; index < values.length; index++) {
    if (isNoise(values[index - 1] as number, values[index] as number, values[index + 1])) kept[index] = Number.NaN
  }
  return presentOf(timesMs, kept)
}

/**
 * The part of the last of two or three successive values in the increase. If it shows a fall to be a reset, it adds the
 * growth up to that fall too. So the increases of values add up, even if later values have not been read.
 * `store/counter-sql.ts` is the same in SQL.
 */
export function increaseAt(values: readonly number[]): number {
  const upTo = (end: number) => {
    const timesMs = Float64Array.from({ length: end }, (_, index) => index)
    return counterIncrease({ timesMs, values: Float64Array.from(values.slice(0, end)) }).increase ?? 0
  }
  return upTo(values.length) - upTo(values.length - 1)
}

/** The increase between two samples that are not noise. */
function stepIncrease(before: number, after: number): number {
  return isFall(before, after) ? after : Math.max(0, after - before)
}

/** A smaller share is rounding rather than a fall: computed sums occasionally lose a digit. */
const roundingShare = 1e-9
/** Share of the value before. A fall of exactly a tenth is a reset, however decimals round. */
const noiseShare = 0.1 - roundingShare

function isFall(before: number, after: number): boolean {
  return after < before - Math.abs(before) * roundingShare
}

/** As two successive values are never both noise, `before` is not noise where `value` is. */
function isNoise(before: number, value: number, next: number | undefined): boolean {
  if (!isFall(before, value) || (next !== undefined && isFall(before, next))) return false
  return value > before - Math.abs(before) * noiseShare || (value === 0 && next !== undefined)
}

function resetAt({ timesMs, values }: Samples, place: number): CounterReset {
  return {
    after_ms: timesMs[place - 1] as number,
    until_ms: timesMs[place] as number,
    value_before: values[place - 1] as number,
    value_after: values[place] as number,
  }
}

/** Increases are in the total's unit. */
interface BucketIncrease {
  /**
   * Null where the bucket has no covered time. With less than its whole length covered, the true increase may be
   * larger.
   */
  readonly increase: number | null
  /** Covered time of the bucket. */
  readonly covered_seconds: number
  /** The rate refers to the covered time; null without any. */
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

interface BucketIncreases {
  /** The result has the order of the given buckets. */
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
