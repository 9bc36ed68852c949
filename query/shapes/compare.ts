/** What `compare_data` answers. */

import { z } from 'zod'
import { pairReasons } from '../../analytics/reasons.ts'
import { answerContext, Coefficient, Count, LocalMinute, Share, TimedPoints } from './parts.ts'

const ComparedDevice = z.strictObject({ device: z.string(), location_short: z.string() })

const Agreement = z.strictObject({
  n: Count,
  bias: z.number().nullable(),
  sd_diff: z.number().nonnegative().nullable(),
  mae: z.number().nonnegative().nullable(),
  rmse: z.number().nonnegative().nullable(),
  pearson: Coefficient.nullable(),
  n_eff: z.number().nullable(),
  p_value: Share.nullable(),
  spearman: Coefficient.nullable(),
  limits_of_agreement: z.tuple([z.number(), z.number()]).readonly().nullable(),
  slope: z.number().nullable(),
  intercept: z.number().nullable(),
  lag_seconds: z.number().nullable(),
  lag_r: Coefficient.nullable(),
  reason: z.enum(pairReasons).nullable(),
})

const ComparedMetric = z.strictObject({
  unit: z.string(),
  a: TimedPoints,
  b: TimedPoints,
  diff: TimedPoints,
  stats: Agreement,
})

export const Comparison = z.strictObject({
  a: ComparedDevice,
  b: ComparedDevice,
  ...answerContext,
  preset: z.enum(['24h', '3d', '7d', '30d', '90d', '365d']),
  start: LocalMinute,
  end: LocalMinute,
  step_seconds: Count,
  temperature: ComparedMetric,
  humidity: ComparedMetric,
  pressure: ComparedMetric,
})
export type Comparison = z.infer<typeof Comparison>
