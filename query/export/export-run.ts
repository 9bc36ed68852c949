/** Runs the queries of exports in a pool of threads of their own. */

import type { Log } from '../../store/log.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { LowerPriority } from '../../store/thread-priority.ts'
import { createAvailabilityLog } from '../availability-log.ts'
import type { AnswerCode } from '../cache/body.ts'
import type { QueryLimits } from '../limits.ts'
import { BodyInterrupted } from '../pieces.ts'
import { createPool, type Pool } from '../pool.ts'
import { noReplicaAnswers, type Replicas } from '../replicas.ts'
import type { ExportQueries, ExportResult, ExportSettings } from './export-queries.ts'

export interface ExportLimits {
  /** Concurrent exports; each holds two pieces in memory. */
  readonly exportsMax: number
  /**
   * Readings of a piece with the built-in metrics: 60,000 make some 5 MB of text. With more metrics there are fewer.
   */
  readonly pieceRows: number
  /** Readings in memory; many concurrent exports have smaller pieces. */
  readonly rowsInMemory: number
  readonly exportThreadsMax: number
}

export interface ExportRunOptions {
  readonly replicas: Replicas
  readonly priority: LowerPriority
  readonly limits: QueryLimits & ExportLimits
  readonly log: Log
}

export interface ExportRun {
  /** Rejects with a BodyInterrupted without a result. */
  run<Name extends keyof ExportQueries>(
    name: Name,
    query: ExportQueries[Name],
    replica: number,
    client: AbortSignal,
  ): Promise<ExportResult>
  close(): Promise<void>
}

export function createExportRun(options: ExportRunOptions): ExportRun {
  const pool = createExportPool(options)
  const logAvailability = createAvailabilityLog(options.log)
  return {
    async run(name, query, replica, client) {
      const isAnswering = await options.replicas.answers(replica)
      const result = isAnswering ? await pool.run(name, { ...query, replica }, client) : noReplicaAnswers
      logAvailability(result)
      if (result.ok) return result.encoded
      throw new BodyInterrupted<AnswerCode>(result.code)
    },
    close: pool.close,
  }
}

function createExportPool({ replicas, priority, limits, log }: ExportRunOptions): Pool<ExportQueries, ExportResult> {
  const settings: ExportSettings = {
    priority,
    replicas: replicas.addresses,
    timeZone: 'UTC',
    connectTimeoutMs: limits.connectTimeoutMs,
    statementTimeoutMs: limits.timeoutMs,
    bodyBytesMax: limits.latestBytesMax,
    rowsMax: limits.pieceRows,
  }
  return createPool<ExportQueries, ExportResult>({
    worker: new URL('./export-worker.ts', import.meta.url),
    settings,
    threadsMax: limits.exportThreadsMax,
    resourceLimits: threadLimits.analyses,
    queueMax: 2 * limits.exportsMax,
    deadlineMs: limits.timeoutMs,
    log,
  })
}
