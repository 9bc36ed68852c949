/** Counts of readings in an interval, and quantiles of the acknowledgement time by a histogram of bounded size. */

import { createHistogram } from 'node:perf_hooks'

export interface IntervalMeter {
  /** Counts a single reading, acknowledged this long after its body arrived. */
  acknowledged(elapsedMs: number): void
  rejected(readings: number): void
  /** The sample since the last call. */
  take(): IntervalSample
}

interface IntervalSample {
  /** Undefined when no single reading was acknowledged. */
  ackMs: { p50: number; p99: number } | undefined
  rejected: number
}

const nsPerMs = 1_000_000

export function createIntervalMeter(): IntervalMeter {
  const histogram = createHistogram({ highest: 3_600_000 * nsPerMs, figures: 3 })
  let rejected = 0
  return {
    acknowledged: elapsedMs => histogram.record(Math.max(1, Math.round(elapsedMs * nsPerMs))),
    rejected(readings) {
      rejected += readings
    },
    take() {
      const quantileMs = (percent: number) => histogram.percentile(percent) / nsPerMs
      const ackMs = histogram.count === 0 ? undefined : { p50: quantileMs(50), p99: quantileMs(99) }
      const sample = { ackMs, rejected }
      histogram.reset()
      rejected = 0
      return sample
    },
  }
}
