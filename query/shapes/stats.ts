/** Response of `stats_data/<device>`. */

import { z } from 'zod'
import { profiles } from '../../analytics/domain/profile.ts'
import { pairReasons } from '../../analytics/reasons.ts'
import { metrics } from '../../store/tables.ts'
import { mapColumns, quantities } from '../series.ts'
import { Findings } from './findings.ts'
import { customMetrics, kindWindows } from './kinds.ts'
import {
  answerContext,
  byMetricAndCustom,
  Coefficient,
  Count,
  LocalMinute,
  reason,
  Share,
  verdict,
  withCustom,
} from './parts.ts'

/** The cycles of a metric: a part of `stats_data`. */
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

/** One of the five metrics, the dew point, or a custom gauge. */
const Quantity = z.string().meta({ examples: [...quantities] })

const Pair = z.strictObject({
  a: Quantity,
  b: Quantity,
  n: Count,
  n_eff: z.number().nullable(),
  pearson: Coefficient.nullable(),
  p_value: Share.nullable(),
  ci95: z.tuple([Coefficient, Coefficient]).readonly().nullable(),
  spearman: Coefficient.nullable(),
  spearman_p_value: Share.nullable(),
  /** Null where too few hours are independent. */
  significant: z.boolean().nullable(),
  r_deseasonalised: Coefficient.nullable(),
  lag_seconds: z.number().nullable(),
  lag_r: Coefficient.nullable(),
  reason: z.enum(pairReasons).nullable(),
})
export type Pair = z.infer<typeof Pair>

/** Correlations of a device's series with each other and with themselves: parts of `stats_data`. */
const Correlations = z.strictObject({
  grid_seconds: z.number().positive().nullable(),
  n: Count,
  pairs: z.array(Pair),
})

export const Autocorrelation = z
  .strictObject({
    ...verdict,
    n: Count,
    n_observed: Count,
    max_lag_hours: z.number().nullable(),
    /** One entry for each lag, in this list and the next four. */
    lags_hours: z.array(z.number()).nullable(),
    acf: z.array(Coefficient.nullable()).nullable(),
    band95: z.array(z.number().nullable()).nullable(),
    band95_white: z.array(z.number().nullable()).nullable(),
    n_pairs: z.array(Count.nullable()).nullable(),
    decorrelation_hours: z.number().nullable(),
    peak: z.strictObject({ lag_hours: z.number(), r: Coefficient }).nullable(),
  })
  .meta({ id: 'Autocorrelation' })
export type Autocorrelation = z.infer<typeof Autocorrelation>

const Seconds = z.number().nonnegative()

const LastValue = z.strictObject({
  last_seen: LocalMinute.nullable(),
  age_seconds: Seconds.nullable(),
  value: z.number().nullable(),
})
const Completeness = z.strictObject({ completeness: Share.nullable() })

/** Freshness and reliability of a device: the dynamic part of `stats_data`. */
const Freshness = z.strictObject({
  /** The moment that the figures describe. */
  as_of: LocalMinute,
  state: z.enum(['never', 'paused', 'fresh', 'late', 'stale', 'offline']),
  last_seen: LocalMinute.nullable(),
  age_seconds: Seconds.nullable(),
  expected_interval_seconds: Seconds.nullable(),
  interval_source: z.enum(['configured', 'estimated', 'default']),
  cadence: z.enum(['regular', 'irregular', 'unknown']),
  regularity: Share.nullable(),
  next_expected: LocalMinute.nullable(),
  clock_skew: z.boolean(),
  metrics: byMetricAndCustom(LastValue, LastValue),
})

const ReliabilityWindow = z.strictObject({
  uptime: Share.nullable(),
  completeness: Share.nullable(),
  hours_with_data: Share.nullable(),
  received: Count,
  expected: z.number().nonnegative().nullable(),
  gap_count: Count,
  longest_gap_seconds: Seconds,
  downtime_seconds: Seconds.nullable(),
  mtbf_seconds: Seconds.nullable(),
  mttr_seconds: Seconds.nullable(),
  mtbf_lower_bound_seconds: Seconds.nullable(),
  truncated: z.boolean(),
  /** States are left out, because they may be sent only on change. */
  metrics: byMetricAndCustom(Completeness, Completeness),
})

const Gap = z.strictObject({
  start: LocalMinute.nullable(),
  end: LocalMinute.nullable(),
  duration_seconds: Seconds,
  missed: z.int().nullable(),
  ongoing: z.boolean(),
})

const Day = z.strictObject({
  date: z.iso.date(),
  completeness: Share.nullable(),
  state: z.enum(['ok', 'partial', 'missing']).nullable(),
})

const Reliability = z.strictObject({
  as_of: LocalMinute,
  windows: z.strictObject({ '24h': ReliabilityWindow, '7d': ReliabilityWindow, '30d': ReliabilityWindow }),
  gap_threshold_seconds: Seconds.nullable(),
  jitter_seconds: Seconds.nullable(),
  jitter_p95_seconds: Seconds.nullable(),
  gaps: z.array(Gap),
  gaps_total: Count,
  days: z.array(Day),
})

const Window = z.strictObject({
  start: LocalMinute.nullable(),
  end: LocalMinute.nullable(),
  days: z.number().positive(),
  truncated: z.boolean(),
})

const Aggregate = z
  .strictObject({
    count: Count,
    mean: z.number().nullable(),
    tw_mean: z.number().nullable(),
    min: z.number().nullable(),
    max: z.number().nullable(),
    std: z.number().nonnegative().nullable(),
    median: z.number().nullable(),
    p05: z.number().nullable(),
    p95: z.number().nullable(),
  })
  .meta({ id: 'Aggregate' })

const derivedNames = ['dew_point', 'absolute_humidity', 'sea_level_pressure', 'pressure_tendency'] as const

const namedUnits = mapColumns([...metrics, ...derivedNames], () => z.string())
const namedAggregates = mapColumns(quantities, () => Aggregate)
const GaugeAggregate = Aggregate.extend({ kind: z.literal('gauge') }).meta({ id: 'GaugeAggregate' })

const Derived = z.strictObject({
  absolute_humidity: z.number().nullable(),
  sea_level_pressure: z.number().nullable(),
  pressure_tendency: z.number().nullable(),
  tendency: z.string().nullable(),
})

const Quality = z
  .strictObject({
    good: Count,
    suspect: Count,
    missing: Count,
    tests: z.strictObject({ range: Count, spike: Count, rate: Count, flat: Count, error_code: Count }),
    /** The sensor's resolution. */
    quantum: z.number().nonnegative().nullable(),
    flat_hours: z.number().nonnegative().nullable(),
  })
  .meta({ id: 'Quality' })

export const Stats = z.strictObject({
  device: z.string(),
  ...answerContext,
  window: Window,
  grid_seconds: z.number().positive().nullable(),
  n_samples: Count,
  units: withCustom(namedUnits, z.string().nullable()),
  profile: z.enum(profiles).optional().meta({ description: 'Purpose of the device, if it is set.' }),
  findings: Findings,
  freshness: Freshness,
  reliability: Reliability,
  correlations: Correlations,
  autocorrelation: byMetricAndCustom(Autocorrelation, Autocorrelation),
  seasonality: byMetricAndCustom(Seasonality, Seasonality),
  aggregates: withCustom(namedAggregates, z.discriminatedUnion('kind', [GaugeAggregate, ...kindWindows])),
  derived: Derived,
  quality: byMetricAndCustom(Quality, Quality),
  ...customMetrics,
})
export type Stats = z.infer<typeof Stats>
