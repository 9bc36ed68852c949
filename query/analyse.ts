/** One analysis: the inputs that its answer depends on, and the time for which the answer is valid. */

import type { AnalysedDevice } from './analysed-device.ts'
import type { Analyses, Served } from './analyses.ts'
import { type AskedWindow, asOfMs } from './asked-window.ts'
import type { Built, Serve } from './cache/response-cache.ts'
import type { QueryLimits } from './limits.ts'
import type { RunQuery } from './run-query.ts'
import type { AnalysisQueries, LightQueries } from './task.ts'

export interface AnalysesOptions {
  readonly runQuery: RunQuery<LightQueries>
  readonly runAnalysis: RunQuery<AnalysisQueries>
  readonly serve: Serve
  readonly now: () => number
  readonly revision: (deviceNumber: number) => number
  /** The same for a series of points. */
  readonly pointsRevision: (series: number) => number
  readonly limits: QueryLimits
}

interface Analysis {
  readonly name: keyof Analyses
  readonly devices: readonly AnalysedDevice[]
  /** The options of the request, without its devices. */
  readonly how: object & Partial<Pick<AskedWindow, 'endMs'>>
  /** How long an answer without new readings is valid. The query itself ends at the full minute. */
  readonly untilMs?: number
  readonly maxAgeSeconds?: number
  readonly build: (nowMs: number, signal: AbortSignal) => Promise<Built>
  readonly client: AbortSignal
}

const minuteMs = 60_000
const usualMaxAgeSeconds = 5

export type Analyse = (analysis: Analysis) => Served

export function createAnalyse({ serve, now, revision, pointsRevision, limits }: AnalysesOptions): Analyse {
  return ({ name, devices, how, untilMs = minuteMs, build, client, ...rest }: Analysis): Served => {
    const nowMs = fullMinute(now())
    // An answer about the past is built once, until there are more readings.
    const untilNow = asOfMs(how.endMs, nowMs) < nowMs ? 'end' : Math.floor(now() / untilMs)
    const revisions = devices.flatMap(({ number, station }) => {
      return station === undefined ? revision(number) : station.series.map(one => pointsRevision(one.number))
    })
    return serve({
      // The key contains the whole registry entry, so that a change there shows at once.
      key: JSON.stringify([name, how, devices]),
      version: `${revisions.join()}@${untilNow}`,
      freshMs: Math.min(limits.staleMs, Math.max(limits.rebuildMs, ...devices.map(expectedMs))),
      staleMs: limits.staleMs,
      maxAgeSeconds: () => rest.maxAgeSeconds ?? usualMaxAgeSeconds,
      build: (askedAtMs, signal) => build(fullMinute(askedAtMs), signal),
      client,
    })
  }
}

/** An answer cannot change more often than the device reports. */
function expectedMs({ expected_interval_seconds }: AnalysedDevice): number {
  return (expected_interval_seconds ?? 0) * 1000
}

function fullMinute(timeMs: number): number {
  return Math.floor(timeMs / minuteMs) * minuteMs
}
