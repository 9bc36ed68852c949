/** Runs queries of points: one with few rows directly, another one in a pool of worker threads. */

import type { Log } from '../../store/log.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import { createAvailabilityLog } from '../availability-log.ts'
import type { AnswerCode } from '../cache/body.ts'
import { defaultLimits, type QueryLimits } from '../limits.ts'
import { createPool } from '../pool.ts'
import { onReplica, type Replicas } from '../replicas.ts'
import { createDirectReads } from './direct-reads.ts'
import type { PointsQueries, PointsResult } from './points-queries.ts'

export interface PointsRunOptions {
  readonly replicas: Replicas
  readonly limits?: Partial<QueryLimits>
  readonly log: Log
}

/** MEAN_UNBOUNDED: the list filters or sorts by a running mean without bounds of time. */
export interface PointsFailure {
  readonly ok: false
  readonly code: AnswerCode | 'MEAN_UNBOUNDED' | 'PAGE_UNKNOWN'
}

export type Outcome<Value> = ({ readonly ok: true } & Value) | PointsFailure

interface PointsRun {
  /** `isSmall` means that the query probably takes few rows. If it does not, it is repeated in the pool. */
  run<Name extends keyof PointsQueries & string>(
    name: Name,
    query: PointsQueries[Name],
    isSmall: boolean,
    client: AbortSignal,
  ): Promise<Outcome<{ result: PointsResult }>>
  close(): Promise<void>
}

export function createPointsRun({ replicas, log, ...options }: PointsRunOptions): PointsRun {
  const limits = { ...defaultLimits, ...options.limits }
  const pool = createPool<PointsQueries, PointsResult>({
    worker: new URL('./points-worker.ts', import.meta.url),
    settings: {
      replicas: replicas.addresses,
      timeZone: 'UTC',
      connectTimeoutMs: limits.connectTimeoutMs,
      statementTimeoutMs: limits.timeoutMs,
      bodyBytesMax: limits.latestBytesMax,
      rowsMax: limits.lightRowsMax,
    },
    threadsMax: limits.threadsMax,
    resourceLimits: threadLimits.lightQueries,
    queueMax: limits.queueMax,
    deadlineMs: limits.timeoutMs,
    log,
  })
  const direct = createDirectReads(replicas.addresses, limits)
  const logAvailability = createAvailabilityLog(log)

  return {
    async run(name, query, isSmall, client) {
      const result = await onReplica(replicas, client, async (replica, signal) => {
        const found = isSmall ? await direct.run(replica, name, query, signal) : undefined
        const isFound = found !== undefined && (found.ok || found.code !== 'TOO_LARGE')
        return isFound ? found : await pool.run(name, { ...query, replica }, signal)
      })
      logAvailability(result)
      return result.ok ? { ok: true, result: result.encoded } : { ok: false, code: result.code }
    },
    async close() {
      await Promise.all([pool.close(), direct.close()])
    },
  }
}
