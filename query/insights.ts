/** The insights of the whole fleet: computed at most every ten minutes, and served while the next ones are computed. */

import type { Answer } from './cache/body.ts'
import type { Built, Serve } from './cache/response-cache.ts'
import type { QueryDevice } from './fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { HourSources } from './questdb/hourly-sql.ts'
import type { RunQuery } from './run-query.ts'
import type { AnalysisQueries } from './task.ts'

export interface InsightsOptions {
  readonly runAnalysis: RunQuery<AnalysisQueries>
  readonly serve: Serve
  readonly fleetText: (devices: readonly QueryDevice[]) => string
  readonly hourSources: () => HourSources
  readonly limits: Pick<QueryLimits, 'insightsMs' | 'insightsStaleMs' | 'insightsDevicesMax' | 'insightsRawDevicesMax'>
}

export type Insights = (devices: () => readonly QueryDevice[]) => Answer | Promise<Answer>

export function createInsights({ runAnalysis, serve, fleetText, hourSources, limits }: InsightsOptions): Insights {
  const { insightsMs, insightsStaleMs, insightsDevicesMax, insightsRawDevicesMax } = limits
  let timedOutAtMs = Number.NEGATIVE_INFINITY

  async function build(devices: readonly QueryDevice[], askedAtMs: number, signal: AbortSignal): Promise<Built> {
    if (devices.length > insightsDevicesMax) return { ok: true, body: 'TOO_LARGE' }
    const { rawFromUs, expiredBeforeUs } = hourSources()
    // The raw readings of 30 days of a large fleet would take too long: it has what the view has.
    const isSmall = devices.length <= insightsRawDevicesMax
    if (!isSmall && rawFromUs === Number.NEGATIVE_INFINITY) return { ok: false, code: 'DATABASE_AWAY' }
    // A computation that timed out would do so again, and delay the other analyses meanwhile.
    if (Math.abs(askedAtMs - timedOutAtMs) < insightsMs) return { ok: false, code: 'TIMED_OUT' }
    const sources = { expiredBeforeUs, rawFromUs: isSmall ? rawFromUs : Number.POSITIVE_INFINITY }
    const query = { fleet: fleetText(devices), nowUs: askedAtMs * 1000, hourSources: sources }
    const built = await runAnalysis('insights', query, signal)
    if (!built.ok && built.code === 'TIMED_OUT') timedOutAtMs = askedAtMs
    return built
  }

  return devices =>
    serve({
      key: 'insights',
      // It depends on the moment and on every device.
      version: undefined,
      freshMs: insightsMs,
      staleMs: insightsStaleMs,
      maxAgeSeconds: ageMs => Math.max(0, Math.floor((insightsMs - ageMs) / 1000)),
      build: (askedAtMs, signal) => build(devices(), askedAtMs, signal),
    })
}
