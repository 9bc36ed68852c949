/** Response of `stats_data/<device>`. */

import { z } from 'zod'
import { profiles } from '../../analytics/domain/profile.ts'
import { metrics } from '../../store/tables.ts'
import { quantities } from '../answers/units.ts'
import { mapColumns } from '../map-columns.ts'
import { Autocorrelation, Correlations } from './correlation.ts'
import { Findings } from './findings.ts'
import { customMetrics, kindWindows } from './kinds.ts'
import { answerContext, byMetricAndCustom, Count, LocalMinute, withCustom } from './parts.ts'
import { Freshness, Reliability } from './reliability.ts'
import { Seasonality } from './seasonality.ts'

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
