/** Questions about readings: answered from memory where that is still right, else from QuestDB by a worker thread. */

import type { Logger } from 'pino'
import { createLocalTime } from '../analytics/local-time.ts'
import { createAsk, createNote } from './asking.ts'
import type { Answer, Body, Coding } from './body.ts'
import { createBodyCache } from './body-cache.ts'
import { createDay } from './day.ts'
import type { QueryDevice } from './fleet.ts'
import { createKeptAnswers } from './kept-answers.ts'
import { createLatest } from './latest.ts'
import { defaultLimits, type QueryLimits } from './limits.ts'
import { createPool } from './pool.ts'
import type { HttpAddress, LightQuestions, PgAddress } from './task.ts'

export interface QueryOptions {
  readonly questdb: { readonly pg: PgAddress; readonly http: HttpAddress }
  readonly timeZone: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Raised whenever rows of the device became visible. */
  readonly revision: (deviceNumber: number) => number
  readonly limits?: Partial<QueryLimits>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export interface Query {
  /** The last hours of all these devices; at once when there is a body that is not too old. */
  latestAll(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer>
  /** The last hours of these devices only. `client` aborts when the client has left. */
  latestOf(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer>
  /** All readings of one local day, `YYYY-MM-DD`. */
  day(device: QueryDevice, date: string, client: AbortSignal): Answer | Promise<Answer>
  /** A compressed form of a body; undefined when too many are being made just now. */
  coded(body: Body, coding: Coding): Buffer | Promise<Buffer> | undefined
  /** Questions that wait for a thread. */
  queueLength(): number
  close(): Promise<void>
}

export function createQuery({ questdb, timeZone, now, revision, log, ...options }: QueryOptions): Query {
  const limits = { ...defaultLimits, ...options.limits }
  const { host, port, user, password, database } = questdb.pg
  const pool = createPool<LightQuestions>({
    worker: new URL('./light-worker.ts', import.meta.url),
    settings: {
      questdb: { host, port, user, password, database },
      questdbHttp: questdb.http,
      timeZone,
      connectTimeoutMs: limits.connectTimeoutMs,
      statementTimeoutMs: limits.timeoutMs,
      bodyBytesMax: limits.latestBytesMax,
    },
    threadsMin: 1,
    threadsMax: limits.threadsMax,
    heapMebibytesMax: limits.heapMebibytesMax,
    queueMax: limits.queueMax,
    // A question may take more than one statement, and may have to wait.
    deadlineMs: 2 * limits.timeoutMs,
    log,
  })
  const cache = createBodyCache(limits.cacheBytesMax)
  const give = createKeptAnswers({ cache, now, limits, log })
  const ask = createAsk(pool, createNote(log))
  const local = createLocalTime(timeZone)
  const latest = createLatest({ ask, give, limits })
  const day = createDay({ ask, give, local, now, revision, limits })
  return {
    latestAll: latest.all,
    latestOf: latest.of,
    day,
    coded: cache.coded,
    queueLength: pool.queueLength,
    close: pool.close,
  }
}
