/** Response of `compare_data`. */

import { z } from 'zod'
import { pairReasons } from '../../analytics/reasons.ts'
import { customMetrics, StateDurations } from './kinds.ts'
import { answerContext, Coefficient, Count, LocalMinute, Share, TimedPoints, withCustom } from './parts.ts'

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
  /** Null where too few hours are independent. */
  verdict: z.enum(['together', 'no_link']).nullable(),
  reason: z.enum(pairReasons).nullable(),
})

const ComparedMetric = z.strictObject({
  unit: z.string(),
  a: TimedPoints,
  b: TimedPoints,
  diff: TimedPoints,
  stats: Agreement,
})

/** Compared by the hour: means of gauges, increases of counters, sums of rates. */
const comparedKinds = ['gauge', 'counter', 'rate'] as const
const ComparedDirection = z.strictObject({
  kind: z.literal('direction'),
  unit: z.string().nullable(),
  a: TimedPoints,
  b: TimedPoints,
  diff: TimedPoints,
  stats: z.strictObject({
    n: Count,
    bias: z.number().min(-180).max(180).nullable(),
    mae: z.number().min(0).max(180).nullable(),
    resultant_length: Share.nullable(),
  }),
})
/** Compared over the whole time. */
const ComparedState = z.strictObject({
  kind: z.literal('state'),
  unit: z.string().nullable(),
  a: StateDurations,
  b: StateDurations,
  stats: z.strictObject({
    known_seconds: z.number().nonnegative(),
    same_seconds: z.number().nonnegative(),
    same_share: Share.nullable(),
  }),
})
const ComparedCustom = z.discriminatedUnion('kind', [
  ComparedMetric.extend({ kind: z.enum(comparedKinds), unit: z.string().nullable() }),
  ComparedDirection,
  ComparedState,
])
export type ComparedCustom = z.infer<typeof ComparedCustom>

const comparison = {
  a: ComparedDevice,
  b: ComparedDevice,
  ...answerContext,
  preset: z
    .enum(['24h', '3d', '7d', '30d', '90d', '365d'])
    .nullable()
    .meta({ description: 'Null for a requested window' }),
  start: LocalMinute,
  end: LocalMinute,
  step_seconds: Count,
  temperature: ComparedMetric,
  humidity: ComparedMetric,
  pressure: ComparedMetric,
  ...customMetrics,
}
export const Comparison = withCustom(comparison, ComparedCustom)
export type Comparison = z.infer<typeof Comparison>
