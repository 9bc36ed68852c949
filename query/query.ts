/** Entry point of this folder: serves queries from the response cache, or computes them in worker threads from QuestDB. */

import { createLocalTimes } from '../analytics/time/local-time.ts'
import type { Log } from '../store/log.ts'
import { threadLimits } from '../store/thread-limits.ts'
import { type Analyses, createAnalyses } from './analyses/create-analyses.ts'
import { type AskFleetRows, createFleetRows } from './answers/fleet-rows.ts'
import type { Answer, Body, Coding } from './cache/body.ts'
import { type CacheStatus, createBodyCache } from './cache/body-cache.ts'
import { createResponseCache } from './cache/response-cache.ts'
import { createDay } from './day.ts'
import { createFleetText, createSetKey, encodeFleet, type QueryDevice } from './fleet.ts'
import { createInsights, type Insights } from './insights.ts'
import type { InsightsKnown } from './insights-fleet.ts'
import { createLatest } from './latest.ts'
import { defaultLimits, type QueryLimits } from './limits.ts'
import { createAvailabilityLog, createPool } from './pool.ts'
import type { Queries } from './queries.ts'
import type { HourSources } from './questdb/hourly-sql.ts'
import type { Replicas } from './replicas.ts'
import { createRunQuery } from './run-query.ts'

export interface QueryOptions {
  readonly replicas: Replicas
  readonly timeZone: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Increases whenever new rows of the device become visible to queries. */
  readonly revision: (deviceNumber: number) => number
  /** The same for points of a series of a station. Without it, points never change. */
  readonly pointsRevision?: (series: number) => number
  readonly limits?: Partial<QueryLimits>
  readonly log: Log
}

export interface Query extends Analyses {
  /** The last hours of all these devices; synchronous when a cached response is fresh enough. */
  latestAll(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer>
  /** The last hours of these devices only. `client` aborts when the client disconnects. */
  latestOf(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer>
  /** From now on cached answers never include a removed device. */
  deviceRemoved(): void
  /** All readings of one local day, `YYYY-MM-DD`. */
  day(device: QueryDevice, date: string, client: AbortSignal): Answer | Promise<Answer>
  /** Insights about devices, from the last 30 days and from `known`. */
  insights(known: InsightsKnown): Insights
  /** The numbers of packed rows for the state of the fleet, or the reason of a failure. */
  fleetRows: AskFleetRows
  /** Sources of hours in the current replica. */
  hourSources: () => HourSources
  /** The compressed body; undefined when too many compressions are in progress. */
  coded(body: Body, coding: Coding): Buffer | Promise<Buffer> | undefined
  queueLengths(): Readonly<Record<'light' | 'analysis', number>>
  cacheStatus(): CacheStatus
  close(): Promise<void>
}

export function createQuery({ replicas, timeZone, now, revision, log, ...options }: QueryOptions): Query {
  const limits = { ...defaultLimits, ...options.limits }
  const { light, analysis } = createPools(replicas.addresses, timeZone, limits, log)
  const cache = createBodyCache(limits.cacheBytesMax)
  const serve = createResponseCache({ cache, now, limits, log })
  const localTimes = createLocalTimes()
  const local = localTimes(timeZone)
  const logAvailability = createAvailabilityLog(log)
  const runQuery = createRunQuery({ pool: light, logAvailability, localTimes, replicas })
  const runAnalysis = createRunQuery({ pool: analysis, logAvailability, localTimes, replicas })
  const fleetText = createFleetText(encodeFleet)
  const setKey = createSetKey()
  const latest = createLatest({ runQuery, serve, fleetText, setKey, limits })
  const day = createDay({ runQuery, serve, local, now, revision, replicas, limits })
  const analyses = createAnalyses({
    pools: { light: runQuery, long: runAnalysis },
    serve,
    now,
    revision,
    pointsRevision: options.pointsRevision ?? (() => 0),
    limits,
  })
  return {
    latestAll: latest.all,
    latestOf: latest.of,
    deviceRemoved: latest.deviceRemoved,
    day,
    insights: known => createInsights({ runAnalysis, serve, setKey, replicas, known, limits }),
    ...analyses,
    hourSources: replicas.hourSources,
    fleetRows: createFleetRows({ pool: light, replicas, logAvailability }),
    coded: cache.coded,
    cacheStatus: cache.status,
    queueLengths: () => ({ light: light.queueLength(), analysis: analysis.queueLength() }),
    async close() {
      await Promise.all([light.close(), analysis.close()])
    },
  }
}

function createPools(replicas: Replicas['addresses'], timeZone: string, limits: QueryLimits, log: QueryOptions['log']) {
  const settings = {
    replicas,
    timeZone,
    connectTimeoutMs: limits.connectTimeoutMs,
    statementTimeoutMs: limits.timeoutMs,
    bodyBytesMax: limits.latestBytesMax,
  }
  const shared = {
    worker: new URL('./query-worker.ts', import.meta.url),
    queueMax: limits.queueMax,
    deadlineMs: limits.timeoutMs,
    log,
  }
  const light = createPool<Queries>({
    ...shared,
    settings: { ...settings, rowsMax: limits.lightRowsMax },
    threadsMax: limits.threadsMax,
    resourceLimits: threadLimits.lightQueries,
  })
  const analysis = createPool<Queries>({
    ...shared,
    // Light queries do not wait for the long ones.
    settings: { ...settings, rowsMax: limits.analysisRowsMax, isIdle: true },
    threadsMax: limits.analysisThreadsMax,
    resourceLimits: threadLimits.analyses,
  })
  return { light, analysis }
}
