/** What `detail_data/<device>` answers. */

import { z } from 'zod'
import { answerContext, byMetric, Count, LocalMinute, Point, pointTime } from './parts.ts'

const Hour = z.strictObject({
  d: LocalMinute,
  mean: z.number(),
  min: z.number(),
  max: z.number(),
  count: Count.positive(),
  ...pointTime,
})

/** QARTOD's 3, suspect, for who asks for it; a good reading has none. */
const FlaggedPoints = z.array(Point.extend({ flag: z.literal(3).optional(), ...pointTime }))

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
  last_30d_hourly: byMetric(z.array(Hour)),
})
export type DeviceDetail = z.infer<typeof DeviceDetail>
