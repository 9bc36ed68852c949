/** Response of `detail_data/<device>`. */

import { z } from 'zod'
import { counterFigures, directionFigures, MetricDescription, rateFigures, stateFigures } from './kinds.ts'
import {
  answerContext,
  byMetricAndCustom,
  Count,
  LocalMinute,
  Point,
  pointTime,
  TimedPoint,
  withCustom,
} from './parts.ts'

const aggregates = { mean: z.number(), min: z.number(), max: z.number(), count: Count.positive() }
const Hour = z.strictObject({ ...aggregates, d: LocalMinute }).meta({ id: 'Hour' })
const TimedHour = z.strictObject({ ...aggregates, ...pointTime, d: LocalMinute }).meta({ id: 'TimedHour' })

/** Flags are sent only on request. A good reading has no flag. */
const flag = { flag: z.literal(3).meta({ description: 'QARTOD flag of a suspect reading' }) }
const FlaggedPoint = z.strictObject({ ...flag, ...Point.shape }).meta({ id: 'FlaggedPoint' })
const TimedFlaggedPoint = z.strictObject({ ...flag, ...TimedPoint.shape }).meta({ id: 'TimedFlaggedPoint' })
const FlaggedPoints = z.array(z.union([TimedFlaggedPoint, FlaggedPoint, TimedPoint, Point]))

/** Hours of custom metrics, by kind. Those without a value are left out. */
const kindFigures = {
  Gauge: { kind: z.literal('gauge'), ...aggregates },
  Counter: counterFigures,
  Direction: directionFigures,
  State: stateFigures,
  Rate: rateFigures,
}
const CustomHours = z.array(
  z.union(
    Object.entries(kindFigures).flatMap(([kind, figures]) => [
      z.strictObject({ ...figures, ...pointTime, d: LocalMinute }).meta({ id: `Timed${kind}Hour` }),
      z.strictObject({ ...figures, d: LocalMinute }).meta({ id: `${kind}Hour` }),
    ]),
  ),
)

const gap_seconds = z.number().nullable()
/** Each has an interval of its own that breaks its line. */
const DetailMetric = MetricDescription.extend({
  gap_seconds,
  hold_seconds: z.number().nonnegative().exactOptional().meta({
    description: 'States only: how long the state is known after a value without another one within gap_seconds.',
  }),
}).meta({ id: 'DetailMetric' })

const seriesOfMetrics = {
  temperature: FlaggedPoints,
  humidity: FlaggedPoints,
  pressure: FlaggedPoints,
  battery_voltage: FlaggedPoints,
  battery_percentage: FlaggedPoints,
}

export const DeviceDetail = z.strictObject({
  device: z.string(),
  ...answerContext,
  last_24h: withCustom(
    {
      ...seriesOfMetrics,
      /** A longer interval is a break in the line; null while no interval is expected. */
      gap_seconds,
      downsampled: z.boolean(),
    },
    FlaggedPoints,
  ),
  last_30d_hourly: byMetricAndCustom(z.array(z.union([TimedHour, Hour])), CustomHours),
  /** Custom metrics only. */
  metrics: z.record(z.string(), DetailMetric).optional(),
})
export type DeviceDetail = z.infer<typeof DeviceDetail>
