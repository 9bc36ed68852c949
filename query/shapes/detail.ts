/** What `detail_data/<device>` answers. */

import { z } from 'zod'
import { answerContext, byMetric, Count, LocalMinute, Point, pointTime, TimedPoint } from './parts.ts'

const aggregates = { mean: z.number(), min: z.number(), max: z.number(), count: Count.positive() }
const Hour = z.strictObject({ ...aggregates, d: LocalMinute }).meta({ id: 'Hour' })
const TimedHour = z.strictObject({ ...aggregates, ...pointTime, d: LocalMinute }).meta({ id: 'TimedHour' })

/** For who asks for it; a good reading has none. */
const flag = { flag: z.literal(3).meta({ description: 'Suspect, by QARTOD' }) }
const FlaggedPoint = z.strictObject({ ...flag, ...Point.shape }).meta({ id: 'FlaggedPoint' })
const TimedFlaggedPoint = z.strictObject({ ...flag, ...TimedPoint.shape }).meta({ id: 'TimedFlaggedPoint' })
const FlaggedPoints = z.array(z.union([TimedFlaggedPoint, FlaggedPoint, TimedPoint, Point]))

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
  last_24h: z.strictObject({
    ...seriesOfMetrics,
    /** A longer interval is a break in the line; null while no interval is expected. */
    gap_seconds: z.number().nullable(),
    downsampled: z.boolean(),
  }),
  last_30d_hourly: byMetric(z.array(z.union([TimedHour, Hour]))),
})
export type DeviceDetail = z.infer<typeof DeviceDetail>
