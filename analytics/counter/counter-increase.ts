/**
 * How much a running total grew. The total may start again from 0, as the total of a restarted or replaced device: a reset
 * has grown from 0 since. A fall of less than a tenth that the next reading makes good is noise, and so is one reading of zero
 * between two that go on. Any other fall is a reset. There is no mean of a total.
 *
 * Sources: Prometheus, `promql/functions.go`, `extrapolatedRate`, before it extrapolates; Home Assistant,
 * `components/sensor/recorder.py`, `reset_detected`, which takes only a fall of a tenth or more as a reset. The look at the
 * next reading is added here.
 */

import { CompensatedSum } from '../compensated-sum.ts'
import { upperBound } from '../lower-bound.ts'
import { presentOf, type Samples } from '../present.ts'

/** The newest so many resets are listed. */
export const resetsMax = 50

/** A reset, at an unknown moment between two samples. */
interface CounterReset {
  /** The last sample before it. */
  readonly after_ms: number
  /** The first sample after it. */
  readonly until_ms: number
  /** What the two showed, in the total's unit. */
  readonly value_before: number
  readonly value_after: number
}

export interface CounterIncrease {
  /** Samples that are there. */
  readonly count: number
  /** From the first sample to the last, in the total's unit; null with fewer than two. */
  readonly increase: number | null
  /** Seconds from the first sample to the last; 0 with fewer than two. */
  readonly span_seconds: number
  /** Newest first, at most 50; `resets_total` counts them all. */
  readonly resets: CounterReset[]
  readonly resets_total: number
}

/**
 * Of samples at ascending times, NaN being missing. With `sinceMs`, from the newest sample up to then on; the one before that
 * tells whether it is noise. What grew before a reset, but after the last sample, is not known.
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
 * Samples that are there, less those that are noise. The last one has no next reading: a fall of less than a tenth is noise
 * so far, and any other fall a reset.
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
 * What the last of two or three successive values adds to the increase: with a fall that it shows to be a reset, the growth up
 * to that fall, too. So the increases of values add up, whatever has been read of the values behind them.
 * `store/counter-sql.ts` is the same in SQL.
 */
export function increaseAt(values: readonly number[]): number {
  const upTo = (end: number) => {
    const timesMs = Float64Array.from({ length: end }, (_, index) => index)
    return counterIncrease({ timesMs, values: Float64Array.from(values.slice(0, end)) }).increase ?? 0
  }
  return upTo(values.length) - upTo(values.length - 1)
}

/** Between samples of which none is noise. */
export function stepIncrease(before: number, after: number): number {
  return isFall(before, after) ? after : Math.max(0, after - before)
}

/** Less than this share is rounding, which is no fall: sums that programs send come out a digit lower at times. */
const roundingShare = 1e-9
/** Of the value before: less than a tenth, and a tenth itself is none, however decimals round. */
const noiseShare = 0.1 - roundingShare

export function isFall(before: number, after: number): boolean {
  return after < before - Math.abs(before) * roundingShare
}

/** As no two successive values are noise, `before` is none where the value is. */
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
