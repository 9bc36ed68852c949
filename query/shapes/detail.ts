/** What `detail_data/<device>` answers. */

import { z } from 'zod'
import { answerContext, byMetric, Count, LocalMinute, pointTime, TimedPoints } from './parts.ts'

const Hour = z.strictObject({
  d: LocalMinute,
  mean: z.number(),
  min: z.number(),
  max: z.number(),
  count: Count.positive(),
  ...pointTime,
})

const seriesOfMetrics = {
  temperature: TimedPoints,
  humidity: TimedPoints,
  pressure: TimedPoints,
  battery_voltage: TimedPoints,
  battery_percentage: TimedPoints,
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
