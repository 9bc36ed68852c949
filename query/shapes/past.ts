/** Response of `past_window_data/<device>`. */

import { z } from 'zod'
import { customMetrics, kindBuckets } from './kinds.ts'
import { answerContext, Count, LocalMinute, withCustom } from './parts.ts'

const HourStatistics = z.strictObject({
  mean: z.number().nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
  count: Count,
})

const GaugeHour = HourStatistics.extend({ kind: z.literal('gauge') }).meta({ id: 'GaugeStatistics' })

const Hour = withCustom(
  {
    hour: z.int().min(0).max(23),
    temperature: HourStatistics,
    humidity: HourStatistics,
    pressure: HourStatistics,
    d: LocalMinute,
  },
  z.discriminatedUnion('kind', [GaugeHour, ...kindBuckets]),
)

const Day = z.strictObject({ date: z.iso.date(), offset_days: Count, hours: z.array(Hour) })

export const PastDays = z.strictObject({
  device: z.string(),
  ...answerContext,
  today: Day,
  yesterday: Day,
  '7d': Day,
  '30d': Day,
  '365d': Day,
  ...customMetrics,
})
export type PastDays = z.infer<typeof PastDays>
