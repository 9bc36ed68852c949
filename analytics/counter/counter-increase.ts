/**
 * How much a running total grew. The total may start again from 0, as that of a restarted or replaced device: a value
 * below the one before it is a reset, and has grown from 0 since. Prometheus' `increase`, before it extrapolates. There
 * is no mean of a total.
 *
 * Source: Prometheus, `promql/functions.go`, `extrapolatedRate`. A total that falls by a rounding error is a reset, too, so
 * values have to be those that the device sent.
 */

import { CompensatedSum } from '../compensated-sum.ts'
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

/** Of samples at ascending times, NaN being missing. What grew before a reset, but after the last sample, is not known. */
export function counterIncrease(samples: Samples): CounterIncrease {
  const { timesMs, values } = presentOf(samples.timesMs, samples.values)
  const count = values.length
  const sum = new CompensatedSum()
  const places: number[] = []
  for (let index = 1; index < count; index++) {
    const before = values[index - 1] as number
    const after = values[index] as number
    sum.add(stepIncrease(before, after))
    if (isReset(before, after)) places.push(index)
  }
  return {
    count,
    increase: count < 2 ? null : sum.total,
    span_seconds: count < 2 ? 0 : ((timesMs[count - 1] as number) - (timesMs[0] as number)) / 1000,
    resets: places
      .slice(-resetsMax)
      .toReversed()
      .map(place => resetAt({ timesMs, values }, place)),
    resets_total: places.length,
  }
}

/** From one sample to the next. */
export function stepIncrease(before: number, after: number): number {
  return isReset(before, after) ? after : after - before
}

export function isReset(before: number, after: number): boolean {
  return after < before
}

function resetAt({ timesMs, values }: Samples, place: number): CounterReset {
  return {
    after_ms: timesMs[place - 1] as number,
    until_ms: timesMs[place] as number,
    value_before: values[place - 1] as number,
    value_after: values[place] as number,
  }
}
