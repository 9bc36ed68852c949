/**
 * `increase` and `rate` of a window as Prometheus computes them, for comparisons with it: extrapolated to the edges of
 * the window, so that a whole number of events may have a fraction. The figures of buckets do not use it.
 *
 * Source: Prometheus 3, `promql/functions.go`, `extrapolatedRate`, for samples without a start timestamp. Its window is
 * open at the start.
 */

import { counterIncrease } from '../../analytics/counter/counter-increase.ts'
import { upperBound } from '../../analytics/lower-bound.ts'
import { presentOf, type Samples } from '../../analytics/present.ts'

/** A sample this many average intervals from an edge is near it: the series extends beyond. */
const nearIntervals = 1.1

/** `(startMs, endMs]`, in UTC. */
export interface RateWindow {
  readonly startMs: number
  readonly endMs: number
}

/**
 * The increase is in the total's unit. Samples have ascending times, with NaN for missing ones. Null with fewer than
 * two samples in the window. It extrapolates all the way to a near edge, otherwise by half an average interval, and
 * backwards only to the point where the total was 0.
 */
export function extrapolatedIncrease(samples: Samples, window: RateWindow): number | null {
  const { timesMs, values } = inWindow(samples, window)
  const { count, increase, span_seconds: spanSeconds } = counterIncrease({ timesMs, values })
  if (increase === null) return null
  if (spanSeconds === 0) return increase
  const averageSeconds = spanSeconds / (count - 1)
  const beyond = (seconds: number) => (seconds >= averageSeconds * nearIntervals ? averageSeconds / 2 : seconds)
  const first = values[0] as number
  const toStart = beyond(((timesMs[0] as number) - window.startMs) / 1000)
  const toEnd = beyond((window.endMs - (timesMs[count - 1] as number)) / 1000)
  const toZero = increase > 0 && first >= 0 ? spanSeconds * (first / increase) : Number.POSITIVE_INFINITY
  return increase * ((spanSeconds + Math.min(toStart, toZero) + toEnd) / spanSeconds)
}

/** The same as `extrapolatedIncrease`, per second of the window. */
export function extrapolatedRatePerSecond(samples: Samples, window: RateWindow): number | null {
  const increase = extrapolatedIncrease(samples, window)
  return increase === null ? null : increase / ((window.endMs - window.startMs) / 1000)
}

function inWindow(samples: Samples, { startMs, endMs }: RateWindow): Samples {
  const from = upperBound(samples.timesMs, startMs)
  const to = Math.max(from, upperBound(samples.timesMs, endMs))
  return presentOf(samples.timesMs.subarray(from, to), samples.values.subarray(from, to))
}
