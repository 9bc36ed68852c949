/** Runs the queries of exports in a pool of threads of their own. */

import type { Place } from '../../placement/placement.ts'
import type { Log } from '../../store/log.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { LowerPriority } from '../../store/thread-priority.ts'
import { createAvailabilityLog } from '../availability-log.ts'
import type { AnswerCode } from '../cache/body.ts'
import type { QueryLimits } from '../limits.ts'
import { BodyInterrupted } from '../pieces.ts'
import { createPool, type Pool } from '../pool.ts'
import { shardIn } from '../query-failed.ts'
import { createAnsweringShards } from '../shards/answering-shards.ts'
import type { ExportQueries, ExportResult, ExportSettings } from './export-queries.ts'

export interface ExportLimits {
  /** Exports at a time: each holds two pieces in memory. */
  readonly exportsMax: number
  /** Readings of a piece with the built-in metrics: of 60,000 some 5 MB of text. With more metrics there are fewer. */
  readonly pieceRows: number
  readonly exportThreadsMax: number
}

export interface ExportRunOptions {
  readonly shards: readonly QuestdbAddress[]
  readonly priority: LowerPriority
  readonly questdbAnswers: (shard: number) => boolean | Promise<boolean>
  readonly limits: QueryLimits & ExportLimits
  readonly log: Log
}

export interface ExportRun {
  /** Rejects with a BodyInterrupted when there is no result. `places`: what is read of the shards. */
  run<Name extends keyof ExportQueries>(
    name: Name,
    query: ExportQueries[Name],
    places: readonly Place[],
    client: AbortSignal,
  ): Promise<ExportResult>
  close(): Promise<void>
}

export function createExportRun({ questdbAnswers, ...options }: ExportRunOptions): ExportRun {
  const pool = createExportPool(options)
  const logAvailability = createAvailabilityLog(options.log)
  const answering = createAnsweringShards(options.shards.length, questdbAnswers)
  return {
    async run(name, query, places, client) {
      const needed = { shards: [...new Set(places.map(({ shard }) => shard))], isEachRead: true }
      const away = await answering.awayAmong(needed)
      const result = away.length > 0 ? answering.failure(away[0]) : await pool.run(name, query, client)
      logAvailability(result, needed)
      if (result.ok) return result.encoded
      throw new BodyInterrupted<AnswerCode>(result.code, shardIn(result))
    },
    close: pool.close,
  }
}

function createExportPool({
  shards,
  priority,
  limits,
  log,
}: Omit<ExportRunOptions, 'questdbAnswers'>): Pool<ExportQueries, ExportResult> {
  const settings: ExportSettings = {
    priority,
    shards,
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
