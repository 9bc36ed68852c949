/** Turns a query into a body, in a thread of a pool. */

import { gapMsAt } from '../analytics/reliability/cadence.ts'
import { freshnessOf } from '../analytics/reliability/freshness.ts'
import { fullMinute } from '../analytics/reliability/reliability-record.ts'
import type { LocalTime, LocalTimes } from '../analytics/time/local-time.ts'
import { bodyOf } from './cache/body.ts'
import type { Built } from './cache/response-cache.ts'
import { type DynamicPart, dynamicBodyOf } from './cache/response-template.ts'
import type { AvailabilityLog, Pool } from './pool.ts'
import type { Queries } from './queries.ts'
import type { HourSources } from './questdb/hourly-sql.ts'
import { type Replicas, runOnReplica } from './replicas.ts'
import { liveText, type StatsLive } from './stats/live.ts'
import type { Encoded } from './task.ts'

export type RunQuery = <Name extends keyof Queries & string>(
  name: Name,
  /** Gets the sources of hours of the chosen replica. */
  queryOf: (sources: HourSources) => Queries[Name],
  signal: AbortSignal,
  /** Start of its deadline, by `performance.now()`; by default now. */
  sinceMs?: number,
) => Promise<Built>

export interface RunQueryOptions {
  readonly pool: Pool<Queries>
  readonly logAvailability: AvailabilityLog
  readonly localTimes: LocalTimes
  readonly replicas: Replicas
}

export function createRunQuery(options: RunQueryOptions): RunQuery {
  const { pool, logAvailability, localTimes, replicas } = options

  function cacheableBody(encoded: Encoded) {
    if (!('live' in encoded)) return bodyOf(encoded)
    return dynamicBodyOf(encoded, (live, nowMs) => statsDynamicPart(live, nowMs, localTimes(live.timeZone)))
  }

  return async (name, queryOf, signal, sinceMs = performance.now()) => {
    const result = await runOnReplica({ pool, replicas }, name, queryOf, signal, sinceMs)
    logAvailability(result)
    if (result.ok) return { ok: true, body: cacheableBody(result.encoded) }
    // TOO_LARGE is cached like any other result.
    if (result.code === 'TOO_LARGE') return { ok: true, body: 'TOO_LARGE' }
    return { ok: false, code: result.code }
  }
}

/** The dynamic part of the statistics: freshness and reliability, which change while no reading comes. */
function statsDynamicPart(live: StatsLive, nowMs: number, local: LocalTime): DynamicPart {
  const { lastMs, cadence } = live.freshness
  const { state } = freshnessOf({ ...live.freshness, nowMs })
  const gapMs = lastMs === null ? null : gapMsAt(cadence, cadence.gapMs, lastMs)
  const isSilent = lastMs !== null && gapMs !== null && fullMinute(nowMs) - lastMs > gapMs
  return { text: liveText(live, nowMs, local), tag: isSilent ? `${state}-silent` : state }
}
