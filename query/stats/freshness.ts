/** Whether the device still reports, computed at the second of the request. */

import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { ageSecondsOf, freshnessOf, type LastValue, lastValueOf } from '../../analytics/reliability/freshness.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import type { CustomSamples } from '../kinds/metric-samples.ts'
import { mapColumns } from '../map-columns.ts'
import type { Series } from '../series.ts'

/** Summary of the readings for freshness. */
export interface LastSeen {
  readonly lastMs: number | null
  readonly enabled: boolean
  readonly cadence: Cadence
  /** Includes custom metrics. */
  readonly metrics: Readonly<Record<Metric, LastValue | null>>
}

export function lastSeenOf(
  { timesMs, values }: Series,
  custom: readonly CustomSamples[],
  cadence: Cadence,
  enabled: boolean,
): LastSeen {
  const last = {
    ...mapColumns(metrics, metric => lastValueOf(timesMs, values[metric])),
    ...Object.fromEntries(custom.map(({ metric, ...one }) => [metric.name, lastValueOf(one.timesMs, one.values)])),
  }
  return { lastMs: timesMs.at(-1) ?? null, enabled, cadence, metrics: last }
}

export function freshnessPart(seen: LastSeen, nowMs: number, local: LocalTime) {
  const { state, age_seconds, next_expected_ms, clock_skew } = freshnessOf({ ...seen, nowMs })
  const { kind, expectedMs, source, regularity } = seen.cadence
  return {
    state,
    as_of: local.text(nowMs * 1000),
    last_seen: textOf(seen.lastMs, local),
    age_seconds,
    expected_interval_seconds: expectedMs === null ? null : expectedMs / 1000,
    interval_source: source,
    cadence: kind,
    regularity,
    next_expected: textOf(next_expected_ms, local),
    clock_skew,
    metrics: mapColumns(Object.keys(seen.metrics) as Metric[], metric =>
      lastValuePart(seen.metrics[metric], nowMs, local),
    ),
  }
}

function lastValuePart(last: LastValue | null, nowMs: number, local: LocalTime) {
  if (last === null) return { last_seen: null, age_seconds: null, value: null }
  return { last_seen: textOf(last.time_ms, local), age_seconds: ageSecondsOf(last.time_ms, nowMs), value: last.value }
}

/** `YYYY-MM-DD HH:mm` on the server's clock. */
export function textOf(timeMs: number | null, local: LocalTime): string | null {
  return timeMs === null ? null : local.text(timeMs * 1000)
}
