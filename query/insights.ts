/**
 * The insights of a fleet, or of some of its devices: computed at most every ten minutes, and served while the next
 * ones are computed.
 */

import { LRUCache } from 'lru-cache'
import type { Answer } from './cache/body.ts'
import type { Built, Serve } from './cache/response-cache.ts'
import { createFleetText, namedInSqlMax } from './fleet.ts'
import { encodeInsightsFleet, type InsightsDevice, type InsightsKnown, knownOfFleet } from './insights-fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { HourSources } from './questdb/hourly-sql.ts'
import type { Replicas } from './replicas.ts'
import type { RunQuery } from './run-query.ts'

export interface InsightsOptions {
  readonly runAnalysis: RunQuery
  readonly serve: Serve
  readonly setKey: (devices: readonly InsightsDevice[]) => string
  readonly replicas: Replicas
  readonly known: InsightsKnown
  readonly limits: Pick<
    QueryLimits,
    'insightsMs' | 'insightsStaleMs' | 'insightsDevicesMax' | 'insightsRawDevicesMax' | 'insightsGaugesMax'
  >
}

/** Insights: batteries that run out, outliers, stuck gauges and silent devices. */
export interface Insights {
  all(devices: () => readonly InsightsDevice[]): Answer | Promise<Answer>
  of(devices: readonly InsightsDevice[], client: AbortSignal): Answer | Promise<Answer>
}

interface Wanted {
  readonly key: string
  readonly devices: () => readonly InsightsDevice[]
  readonly fleet: (devices: readonly InsightsDevice[]) => string
  readonly narrowed: boolean
  readonly client?: AbortSignal
}

/** Number of timeouts that are remembered. */
const timedOutMax = 100

export function createInsights(options: InsightsOptions): Insights {
  const { runAnalysis, serve, setKey, replicas, known, limits } = options
  const { insightsMs, insightsStaleMs, insightsDevicesMax, insightsRawDevicesMax, insightsGaugesMax } = limits
  const fleetText = createFleetText(encodeInsightsFleet)
  /** Time of the timeout, by key. */
  const timedOutMs = new LRUCache<string, number>({ max: timedOutMax })

  async function build(
    { key, fleet, narrowed, ...wanted }: Wanted,
    askedAtMs: number,
    signal: AbortSignal,
  ): Promise<Built> {
    const devices = wanted.devices()
    if (devices.length > insightsDevicesMax) return { ok: true, body: 'TOO_LARGE' }
    const nowUs = askedAtMs * 1000
    // The raw readings of 30 days of a large fleet would take too long. Its insights use the view.
    const isSmall = devices.length <= insightsRawDevicesMax
    const hasView = replicas.hourSources().rawFromUs !== Number.NEGATIVE_INFINITY
    if (!isSmall && !hasView) return { ok: false, code: 'DATABASE_AWAY' }
    // A computation that timed out would do so again, and delay the other analyses meanwhile.
    if (Math.abs(askedAtMs - (timedOutMs.get(key) ?? Number.NEGATIVE_INFINITY)) < insightsMs) {
      return { ok: false, code: 'TIMED_OUT' }
    }
    const query = { fleet: fleet(devices), known: knownOfFleet(devices, known, insightsGaugesMax), narrowed, nowUs }
    const queryOf = (sources: HourSources) => {
      const hourSources = isSmall ? sources : { ...sources, rawFromUs: Number.POSITIVE_INFINITY }
      return { ...query, hourSources }
    }
    const built = await runAnalysis('insights', queryOf, signal)
    if (!built.ok && built.code === 'TIMED_OUT') timedOutMs.set(key, askedAtMs)
    return built
  }

  function insights(wanted: Wanted): Answer | Promise<Answer> {
    return serve({
      key: wanted.key,
      // It depends on the moment and on every device.
      version: undefined,
      freshMs: insightsMs,
      staleMs: insightsStaleMs,
      maxAgeSeconds: ageMs => Math.max(0, Math.floor((insightsMs - ageMs) / 1000)),
      build: (askedAtMs, signal) => build(wanted, askedAtMs, signal),
      client: wanted.client,
    })
  }

  return {
    all: devices => insights({ key: 'insights', devices, fleet: fleetText, narrowed: false }),
    of(devices, client) {
      const narrowed = devices.length <= namedInSqlMax
      return insights({
        key: `insights/${setKey(devices)}`,
        devices: () => devices,
        fleet: encodeInsightsFleet,
        narrowed,
        client,
      })
    },
  }
}
