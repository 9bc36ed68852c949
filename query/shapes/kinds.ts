/** Parts of answers about metrics beside the usual five: their descriptions, and figures by kind. */

import { z } from 'zod'
import { answerContext, byMetricAndCustom, Count, LocalMinute, Share } from './parts.ts'

/** The same kinds as in `store/metrics/metric.ts`. */
const MetricKind = z.enum(['gauge', 'counter', 'direction', 'state', 'rate'])
export type MetricKind = z.infer<typeof MetricKind>

export const MetricDescription = z
  .strictObject({
    title: z.string(),
    kind: MetricKind,
    /** The unit's usual sign; null without a unit. */
    unit: z.string().nullable(),
    /** Digits behind the decimal point. */
    decimals: Count,
    left_out: Count.positive().exactOptional().meta({
      description: 'Stations only: points in the range of the answer whose unit cannot be converted to this one.',
    }),
  })
  .meta({ id: 'MetricDescription' })
export type MetricDescription = z.infer<typeof MetricDescription>

/** Keys are names. Present where an answer has custom metrics. */
export const customMetrics = { metrics: z.record(z.string(), MetricDescription).optional() }

/** An analysis of gauges, with one entry for each. */
export const byGauge = <Shape extends z.ZodType>(shape: Shape) =>
  byMetricAndCustom(shape, shape).extend({ device: z.string(), ...answerContext, ...customMetrics })

const Degrees = z.number().min(0).lt(360)

/** Directions paired with speeds only, in the speed's unit: see `analytics/direction/vector-mean.ts`. */
const Vector = z
  .strictObject({
    count: Count,
    mean_speed: z.number().nonnegative().nullable(),
    mean_u: z.number().nullable(),
    mean_v: z.number().nullable(),
    vector_speed: z.number().nonnegative().nullable(),
    vector_direction_degrees: Degrees.nullable(),
    steadiness: Share.nullable(),
  })
  .meta({ id: 'VectorMean' })

const States = z.array(z.strictObject({ state: z.int().min(0).max(255), seconds: z.number().positive(), share: Share }))

/** Figures of an hour or a local day. */
export const counterFigures = {
  kind: z.literal('counter'),
  count: Count,
  increase: z.number().nullable(),
  covered_seconds: z.number().nonnegative(),
  increase_per_second: z.number().nullable(),
  /** Increase in gaps that span the edge of a bucket and end in this one: its time is unknown. */
  unplaced_increase: z.number(),
  resets: Count,
}
const circularFigures = {
  count: Count,
  mean_degrees: Degrees.nullable(),
  resultant_length: Share.nullable(),
  circular_variance: Share.nullable(),
  circular_std_degrees: z.number().nonnegative().nullable(),
}
export const directionFigures = {
  kind: z.literal('direction'),
  ...circularFigures,
  /** Null where the device has no wind speed. */
  vector: Vector.nullable(),
}
const stateDurationFigures = {
  states: States,
  known_seconds: z.number().nonnegative(),
  unknown_seconds: z.number().nonnegative(),
  known_share: Share.nullable(),
  changes: Count,
}
export const StateDurations = z.strictObject(stateDurationFigures).meta({ id: 'StateDurations' })
export const stateFigures = { kind: z.literal('state'), ...stateDurationFigures }
export const rateFigures = {
  kind: z.literal('rate'),
  count: Count,
  sum: z.number().nullable(),
  max: z.number().nullable(),
  max_at: LocalMinute.nullable(),
  coverage: Share.nullable(),
  missing: Count.nullable(),
  valid: z.boolean(),
}

/** Figures of a bucket, for each kind except gauges. */
const CounterBucket = z.strictObject(counterFigures).meta({ id: 'CounterBucket' })
const DirectionBucket = z.strictObject(directionFigures).meta({ id: 'DirectionBucket' })
const StateBucket = z.strictObject(stateFigures).meta({ id: 'StateBucket' })
const RateBucket = z.strictObject(rateFigures).meta({ id: 'RateBucket' })
export const kindBuckets = [CounterBucket, DirectionBucket, StateBucket, RateBucket] as const
export type KindBucket = z.infer<(typeof kindBuckets)[number]>

const CounterReset = z.strictObject({
  after: LocalMinute,
  until: LocalMinute,
  value_before: z.number(),
  value_after: z.number(),
})
const Rose = z.strictObject({
  /** The first sector is centred on north, the others follow clockwise. */
  sector_counts: z.array(Count),
  count: Count,
  calm_count: Count.nullable(),
  calm_share: Share.nullable(),
})
const StateChange = z.strictObject({ at: LocalMinute, from: z.int(), to: z.int() })
const GreatestHour = z.strictObject({ sum: z.number(), start: LocalMinute, end: LocalMinute, count: Count })

const CounterWindow = z
  .strictObject({
    kind: z.literal('counter'),
    count: Count,
    last: z.number().nullable(),
    increase: z.number().nullable(),
    increase_per_day: z.number().nullable(),
    /** Time from the first value to the last. */
    span_seconds: z.number().nonnegative(),
    /** The newest 50, newest first. */
    resets: z.array(CounterReset),
    resets_total: Count,
  })
  .meta({ id: 'CounterFigures' })
const DirectionWindow = z.strictObject({ ...directionFigures, rose: Rose }).meta({ id: 'DirectionFigures' })
const StateWindow = z
  .strictObject({
    ...stateFigures,
    count: Count,
    last: z.number().nullable(),
    last_change: StateChange.nullable(),
  })
  .meta({ id: 'StateFigures' })
const RateWindow = z
  .strictObject({ ...rateFigures, greatest_hour: GreatestHour.nullable() })
  .meta({ id: 'RateFigures' })

/** Figures of a whole window, for each kind except gauges. */
export const kindWindows = [CounterWindow, DirectionWindow, StateWindow, RateWindow] as const
export type WindowFigures = z.infer<(typeof kindWindows)[number]>
