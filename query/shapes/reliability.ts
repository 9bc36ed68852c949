/** Freshness and reliability of a device: the dynamic part of `stats_data`. */

import { z } from 'zod'
import { byMetricAndCustom, Count, LocalMinute, Share } from './parts.ts'

const Seconds = z.number().nonnegative()

const LastValue = z.strictObject({
  last_seen: LocalMinute.nullable(),
  age_seconds: Seconds.nullable(),
  value: z.number().nullable(),
})
const Completeness = z.strictObject({ completeness: Share.nullable() })

export const Freshness = z.strictObject({
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

const Window = z.strictObject({
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
  /** Without states, because they may be sent only on change. */
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

export const Reliability = z.strictObject({
  as_of: LocalMinute,
  windows: z.strictObject({ '24h': Window, '7d': Window, '30d': Window }),
  gap_threshold_seconds: Seconds.nullable(),
  jitter_seconds: Seconds.nullable(),
  jitter_p95_seconds: Seconds.nullable(),
  gaps: z.array(Gap),
  gaps_total: Count,
  days: z.array(Day),
})
