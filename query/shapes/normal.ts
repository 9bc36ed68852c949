/** Response of `normal/<device>`. */

import { z } from 'zod'
import { byGauge } from './kinds.ts'
import { Count, LocalMinute, verdict } from './parts.ts'

const Normal = z
  .strictObject({
    ...verdict,
    /** The mean of the newest full hour that has a value, and when that hour began. */
    value: z.number().nullable(),
    at: LocalMinute.nullable(),
    percentile: z.number().min(0).max(100).nullable(),
    low: z.number().nullable(),
    median: z.number().nullable(),
    high: z.number().nullable(),
    days: Count,
    /** Numbers of these days with a lower and with an equal value. */
    days_lower: Count,
    days_equal: Count,
    basis: z.enum(['hour', 'hour_and_season']).nullable(),
  })
  .meta({ id: 'MetricNormal' })

export const NormalValues = byGauge(Normal)
export type NormalValues = z.infer<typeof NormalValues>
