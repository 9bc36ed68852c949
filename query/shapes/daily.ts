/** Response of `daily_summary/<device>`. */

import { z } from 'zod'
import { customMetrics, kindBuckets } from './kinds.ts'
import { answerContext, Count, LocalMinute, Share, withCustom } from './parts.ts'

const DayStatistics = z.strictObject({
  mean: z.number().nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
  min_at: LocalMinute.nullable(),
  max_at: LocalMinute.nullable(),
  std: z.number().nonnegative().nullable(),
  count: Count,
  coverage: Share.nullable(),
  valid: z.boolean(),
  tw_mean: z.number().nullable(),
  mean_of_hours: z.number().nullable(),
})

const GaugeDay = DayStatistics.extend({ kind: z.literal('gauge') }).meta({ id: 'GaugeDay' })

const Day = withCustom(
  {
    date: z.iso.date(),
    /** 23 or 25 when the clocks change, 0 for a day that a zone skipped. */
    hours: z.number().nonnegative(),
    temperature: DayStatistics,
    humidity: DayStatistics,
    pressure: DayStatistics,
  },
  z.discriminatedUnion('kind', [GaugeDay, ...kindBuckets]),
)

export const DailySummary = z.strictObject({
  device: z.string(),
  ...answerContext,
  days: z.array(Day),
  ...customMetrics,
})
export type DailySummary = z.infer<typeof DailySummary>
