/**
 * The figures of a metric by hours or local days, for each kind except gauges. Counters increase, directions turn,
 * states last and amounts add up.
 */

import { bucketIncreases } from '../../analytics/counter/counter-increase.ts'
import { type CircularSummary, circularSummaryOf } from '../../analytics/direction/circular-summary.ts'
import { directionAggregates, vectorAggregates } from '../../analytics/direction/vector-mean.ts'
import { lowerBound } from '../../analytics/lower-bound.ts'
import { bucketSums } from '../../analytics/rate/bucket-sums.ts'
import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { stateDurations } from '../../analytics/state/state-durations.ts'
import { type StateRuns, stateRuns } from '../../analytics/state/state-runs.ts'
import type { Bucket } from '../../analytics/summary/aggregates.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { bug } from '../../store/limits/bug.ts'
import { metricCadence } from '../analyses/device-cadence.ts'
import type { KindBucket } from '../shapes/kinds.ts'
import type { CustomSamples } from './metric-samples.ts'
import { stateHoldMs } from './state-hold.ts'

export interface BucketContext {
  readonly cadence: Cadence
  readonly nowMs: number
  readonly local: LocalTime
}

/** In the buckets' order. */
export function bucketFigures(
  samples: CustomSamples,
  buckets: readonly Bucket[],
  context: BucketContext,
): KindBucket[] {
  switch (samples.metric.kind) {
    case 'counter':
      return counterBuckets(samples, buckets, context)
    case 'direction':
      return directionBuckets(samples, buckets)
    case 'state':
      return stateDurations(runsOf(samples, context), buckets).map(figures => ({ kind: 'state', ...figures }))
    case 'rate':
      return rateBuckets(samples, buckets, context)
    case 'gauge':
      throw bug(`bucket figures requested for the gauge ${samples.metric.name}`)
  }
}

function counterBuckets(samples: CustomSamples, buckets: readonly Bucket[], { cadence }: BucketContext): KindBucket[] {
  const { timesMs } = samples
  const { stretches } = metricCadence(timesMs, cadence)
  const { buckets: increases, unplaced } = bucketIncreases(samples, buckets, stretches)
  let gap = 0
  return increases.map((figures, place): KindBucket => {
    const { startMs, endMs } = buckets[place] as Bucket
    let unplaced_increase = 0
    for (; (unplaced[gap]?.end_ms ?? Number.POSITIVE_INFINITY) <= endMs; gap++) {
      const { end_ms, increase } = unplaced[gap] as (typeof unplaced)[number]
      if (end_ms > startMs) unplaced_increase += increase
    }
    const count = lowerBound(timesMs, endMs) - lowerBound(timesMs, startMs)
    return { kind: 'counter', count, ...figures, unplaced_increase }
  })
}

function directionBuckets(samples: CustomSamples, buckets: readonly Bucket[]): KindBucket[] {
  const circular = directionAggregates(samples, buckets)
  const vectors = samples.speeds === undefined ? undefined : vectorAggregates(samples, samples.speeds, buckets)
  return buckets.map(({ startMs }, place) => {
    const kept = samples.expired?.at.get(startMs)
    // Expired pairs with a speed are not kept.
    if (kept !== undefined) return { kind: 'direction', ...circularSummaryOf(kept), vector: null }
    const { rayleigh_p_value: _, ...figures } = circular[place] as CircularSummary
    return { kind: 'direction', ...figures, vector: vectors?.[place] ?? null }
  })
}

function rateBuckets(samples: CustomSamples, buckets: readonly Bucket[], context: BucketContext): KindBucket[] {
  const { timesMs, values, expired } = samples
  const cadence = metricCadence(timesMs, context.cadence)
  const sums = bucketSums({ timesMs, values, cadence, nowMs: context.nowMs }, buckets)
  return sums.map(({ max_at_ms, ...figures }, place) => {
    const { count, sum, coverage, missing, valid } = figures
    const { startMs } = buckets[place] as Bucket
    const isExpired = expired !== undefined && startMs < expired.beforeMs
    const max = expired?.withoutMax.has(startMs) ? null : figures.max
    const max_at = max_at_ms === null || isExpired ? null : context.local.text(max_at_ms * 1000)
    return { kind: 'rate', count, sum, max, max_at, coverage, missing, valid }
  })
}

/** From the first value to now. */
export function runsOf(
  { timesMs, values }: CustomSamples,
  { cadence, nowMs }: Pick<BucketContext, 'cadence' | 'nowMs'>,
): StateRuns {
  const holdMaxMs = stateHoldMs({ timesMs, values })
  const hold = holdMaxMs === undefined ? {} : { holdMaxMs }
  return stateRuns({ timesMs, values, cadence: metricCadence(timesMs, cadence), nowMs, ...hold })
}
