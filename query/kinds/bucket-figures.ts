/**
 * The figures of a metric by hours or local days, for each kind except gauges. Counters increase, directions turn,
 * states last and amounts add up.
 */

import { bucketIncreases, counterIncrease } from '../../analytics/counter/counter-increase.ts'
import {
  type CircularSummary,
  circularSummary,
  circularSummaryOf,
  rose,
} from '../../analytics/direction/circular-summary.ts'
import { directionAggregates, vectorAggregates, vectorMean } from '../../analytics/direction/vector-mean.ts'
import { lowerBound, upperBound } from '../../analytics/lower-bound.ts'
import { bucketSums, greatestSum } from '../../analytics/rate/bucket-sums.ts'
import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { stateDurations, stateEpisodes } from '../../analytics/state/state-durations.ts'
import { type StateRuns, stateRuns } from '../../analytics/state/state-runs.ts'
import type { Bucket } from '../../analytics/summary/aggregates.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { bug } from '../../store/limits/bug.ts'
import { metricCadence } from '../analyses/device-cadence.ts'
import { type CustomSamples, counterSamplesAround, stateHoldMs } from '../custom-metric.ts'
import type { KindBucket, WindowFigures } from '../shapes/kinds.ts'

export interface BucketContext {
  readonly cadence: Cadence
  readonly nowMs: number
  readonly local: LocalTime
}

/** The result has the order of the buckets. */
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

/** Runs last from the first value to now. */
export function runsOf(
  { timesMs, values }: CustomSamples,
  { cadence, nowMs }: Pick<BucketContext, 'cadence' | 'nowMs'>,
): StateRuns {
  const holdMaxMs = stateHoldMs({ timesMs, values })
  const hold = holdMaxMs === undefined ? {} : { holdMaxMs }
  return stateRuns({ timesMs, values, cadence: metricCadence(timesMs, cadence), nowMs, ...hold })
}

const hourMs = 3_600_000
const secondsPerDay = 86_400
/** The points of the compass. */
const sectors = 16

/** Figures of (startMs, endMs]; `context.nowMs` is its end. */
export function windowFigures(samples: CustomSamples, window: Bucket, context: BucketContext): WindowFigures {
  switch (samples.metric.kind) {
    case 'counter':
      return counterFigures(inside(samples, window, counterSamplesAround), window, context.local)
    case 'direction':
      return directionFigures(inside(samples, window))
    case 'state':
      return stateFigures(samples, window, context)
    case 'rate':
      return rateFigures(samples, window, context)
    case 'gauge':
      throw bug(`window figures requested for the gauge ${samples.metric.name}`)
  }
}

/** Keeps this many samples before the window. */
function inside(samples: CustomSamples, { startMs, endMs }: Bucket, before = 0): CustomSamples {
  const { timesMs, values, speeds } = samples
  const from = Math.max(0, upperBound(timesMs, startMs) - before)
  const to = Math.max(from, upperBound(timesMs, endMs))
  const part = (column: Float64Array) => column.subarray(from, to)
  return { ...samples, timesMs: part(timesMs), values: part(values), speeds: speeds && part(speeds) }
}

function counterFigures(samples: CustomSamples, { startMs }: Bucket, local: LocalTime): WindowFigures {
  const { count, increase, span_seconds, resets, resets_total } = counterIncrease(samples, startMs)
  return {
    kind: 'counter',
    count,
    last: samples.values.at(-1) ?? null,
    increase,
    increase_per_day: increase === null || span_seconds === 0 ? null : (increase / span_seconds) * secondsPerDay,
    span_seconds,
    resets: resets.map(({ after_ms, until_ms, ...values }) => ({
      after: local.text(after_ms * 1000),
      until: local.text(until_ms * 1000),
      ...values,
    })),
    resets_total,
  }
}

function directionFigures({ values, speeds, metric }: CustomSamples): WindowFigures {
  const { rayleigh_p_value: _, ...figures } = circularSummary(values)
  const calmBelow = metric.speed?.calmBelow ?? null
  const paired = speeds === undefined || calmBelow === null ? undefined : { speeds, calmBelow }
  return {
    kind: 'direction',
    ...figures,
    vector: speeds === undefined ? null : vectorMean(values, speeds),
    rose: rose(values, sectors, paired),
  }
}

function stateFigures(samples: CustomSamples, window: Bucket, context: BucketContext): WindowFigures {
  const runs = runsOf(samples, context)
  const [durations] = stateDurations(runs, [window])
  if (durations === undefined) throw bug('missing figures of a bucket')
  const { last_change } = stateEpisodes(runs, 1)
  return {
    kind: 'state',
    count: inside(samples, window).values.length,
    ...durations,
    last: samples.values.at(-1) ?? null,
    last_change: last_change && {
      at: context.local.text(last_change.at_ms * 1000),
      from: last_change.from,
      to: last_change.to,
    },
  }
}

function rateFigures(samples: CustomSamples, window: Bucket, { cadence, nowMs, local }: BucketContext): WindowFigures {
  const { timesMs, values } = samples
  const [sums] = bucketSums({ timesMs, values, cadence: metricCadence(timesMs, cadence), nowMs }, [window])
  if (sums === undefined) throw bug('missing sum of a bucket')
  const { max_at_ms, ...figures } = sums
  const greatest = greatestSum(inside(samples, window), hourMs)
  return {
    kind: 'rate',
    ...figures,
    max_at: max_at_ms === null ? null : local.text(max_at_ms * 1000),
    greatest_hour: greatest && {
      sum: greatest.sum,
      start: local.text(greatest.start_ms * 1000),
      end: local.text(greatest.end_ms * 1000),
      count: greatest.count,
    },
  }
}
