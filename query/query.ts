/** Queries about readings: answered from memory where that is still right, else from QuestDB by a worker thread. */

import { createLocalTime } from '../analytics/time/local-time.ts'
import type { Log } from '../store/log.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { threadLimits } from '../store/thread-limits.ts'
import { type Analyses, createAnalyses } from './analyses.ts'
import { createAvailabilityLog } from './availability-log.ts'
import type { Answer, Body, Coding } from './cache/body.ts'
import { type CacheStatus, createBodyCache } from './cache/body-cache.ts'
import { createResponseCache } from './cache/response-cache.ts'
import { createDay } from './day.ts'
import type { QueryDevice } from './fleet.ts'
import { createLatest } from './latest.ts'
import { defaultLimits, type QueryLimits } from './limits.ts'
import { createPool } from './pool.ts'
import { createRunQuery } from './run-query.ts'
import type { AnalysisQueries, LightQueries } from './task.ts'

export interface QueryOptions {
  readonly questdb: QuestdbAddress
  readonly timeZone: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Raised whenever rows of the device became visible. */
  readonly revision: (deviceNumber: number) => number
  /**
   * Hours from this moment on are made of the readings, earlier ones may come from the view of hours; microseconds since
   * 1970. Without it all are made of the readings.
   */
  readonly rawFromUs?: () => number
  /** Whether QuestDB answers a probe; asked before each query. Without it each is tried. */
  readonly questdbAnswers?: () => boolean | Promise<boolean>
  readonly limits?: Partial<QueryLimits>
  readonly log: Log
}

export interface Query extends Analyses {
  /** The last hours of all these devices; at once when there is a body that is not too old. */
  latestAll(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer>
  /** The last hours of these devices only. `client` aborts when the client has left. */
  latestOf(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer>
  /** All readings of one local day, `YYYY-MM-DD`. */
  day(device: QueryDevice, date: string, client: AbortSignal): Answer | Promise<Answer>
  /** A compressed form of a body; undefined when too many are being made just now. */
  coded(body: Body, coding: Coding): Buffer | Promise<Buffer> | undefined
  /** Queries that wait for a thread, by pool. */
  queueLengths(): Readonly<Record<'light' | 'analysis', number>>
  cacheStatus(): CacheStatus
  close(): Promise<void>
}

export function createQuery({ questdb, timeZone, now, revision, rawFromUs, log, ...options }: QueryOptions): Query {
  const limits = { ...defaultLimits, ...options.limits }
  const { light, analysis } = createPools(questdb, timeZone, limits, log)
  const cache = createBodyCache(limits.cacheBytesMax)
  const serve = createResponseCache({ cache, now, limits, log })
  const local = createLocalTime(timeZone)
  const logAvailability = createAvailabilityLog(log)
  const questdbAnswers = options.questdbAnswers ?? (() => true)
  const runQuery = createRunQuery({ pool: light, logAvailability, local, questdbAnswers })
  const runAnalysis = createRunQuery({ pool: analysis, logAvailability, local, questdbAnswers })
  const latest = createLatest({ runQuery, serve, limits })
  const day = createDay({ runQuery, serve, local, now, revision, limits })
  const analyses = createAnalyses({
    runQuery,
    runAnalysis,
    serve,
    now,
    revision,
    rawFromUs: rawFromUs ?? (() => Number.NEGATIVE_INFINITY),
    limits,
  })
  return {
    latestAll: latest.all,
    latestOf: latest.of,
    day,
    ...analyses,
    coded: cache.coded,
    cacheStatus: cache.status,
    queueLengths: () => ({ light: light.queueLength(), analysis: analysis.queueLength() }),
    async close() {
      await Promise.all([light.close(), analysis.close()])
    },
  }
}

function createPools(questdb: QuestdbAddress, timeZone: string, limits: QueryLimits, log: QueryOptions['log']) {
  const settings = {
    questdb,
    timeZone,
    connectTimeoutMs: limits.connectTimeoutMs,
    statementTimeoutMs: limits.timeoutMs,
    bodyBytesMax: limits.latestBytesMax,
  }
  const { queueMax } = limits
  const shared = { queueMax, deadlineMs: limits.timeoutMs, log }
  const light = createPool<LightQueries>({
    ...shared,
    worker: new URL('./light-worker.ts', import.meta.url),
    settings: { ...settings, rowsMax: limits.lightRowsMax },
    threadsMax: limits.threadsMax,
    resourceLimits: threadLimits.lightQueries,
  })
  const analysis = createPool<AnalysisQueries>({
    ...shared,
    worker: new URL('./analysis-worker.ts', import.meta.url),
    settings: { ...settings, rowsMax: limits.analysisRowsMax },
    threadsMax: limits.analysisThreadsMax,
    resourceLimits: threadLimits.analyses,
  })
  return { light, analysis }
}
