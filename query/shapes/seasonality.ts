/** The cycles of a metric: a part of `stats_data`. */

import { z } from 'zod'
import { Count, Share } from './parts.ts'
import { reason, verdict } from './verdict.ts'

const HourOfDay = z.number().min(0).lt(24)

const Peak = z.strictObject({
  period_hours: z.number().positive(),
  cycles: z.number().positive(),
  power: z.number().nonnegative(),
  amplitude: z.number().nonnegative(),
  /** `HH:mm` of the highest value, for a cycle that fits a whole number of times into a day. */
  phase_time: z.string().nullable(),
  snr: z.number(),
  fap: Share.nullable(),
  significant: z.boolean(),
  harmonic_of: z.number().nullable(),
})
export type Peak = z.infer<typeof Peak>

const Strength = z.strictObject({
  daily: Share.nullable(),
  weekly: Share.nullable(),
  trend: Share.nullable(),
  reason,
})

const Trend = z.strictObject({
  direction: z.enum(['rising', 'falling', 'none']).nullable(),
  reason,
  n_eff: z.number().positive().nullable(),
  theil_sen_per_day: z.number().nullable(),
  mann_kendall: z
    .strictObject({ tau: z.number().min(-1).max(1), z: z.number().nullable(), p_value: Share.nullable() })
    .nullable(),
  drift: z.strictObject({ t: z.number().nullable(), df: z.number().positive(), p_value: Share }).nullable(),
})

const Periodogram = z.strictObject({
  period_hours: z.array(z.number()),
  power_db: z.array(z.number()).readonly(),
  background_db: z.array(z.number()).readonly(),
})

const ProfileHour = z.strictObject({
  hour: HourOfDay,
  n: Count,
  mean: z.number().nullable(),
  median: z.number().nullable(),
  p10: z.number().nullable(),
  p90: z.number().nullable(),
})

export const Seasonality = z
  .strictObject({
    ...verdict,
    day: z.strictObject({ p_value: Share, share: Share }).nullable().meta({
      description: 'The sign test of the days, and the share of the variance within them that their mean explains.',
    }),
    slope_per_day: z.number().nullable(),
    slope_ci95: z.tuple([z.number(), z.number()]).nullable(),
    trend: Trend.nullable(),
    peaks: z.array(Peak),
    strength: Strength,
    label: z.enum(['none', 'weak', 'moderate', 'strong']).nullable(),
    periodogram: Periodogram.nullable(),
    daily_profile: z.array(ProfileHour),
    weekly_profile: z.array(z.array(z.number().nullable())).nullable(),
    peak_hour: HourOfDay.nullable(),
    trough_hour: HourOfDay.nullable(),
  })
  .meta({ id: 'Seasonality' })
export type Seasonality = z.infer<typeof Seasonality>
