/** Runs queries of points: one with few rows directly, another one in a pool of worker threads. */

import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { AnswerCode } from '../cache/body.ts'
import { defaultLimits, type QueryLimits } from '../limits.ts'
import { createAvailabilityLog, createPool, type PoolResult } from '../pool.ts'
import { failureCode } from '../query-failed.ts'
import { onReplica, type Replicas } from '../replicas.ts'
import type { PointsQueries, PointsResult } from './points-queries.ts'
import { createPointsSource, type PointsSource } from './points-source.ts'
import { pointsTasks } from './points-tasks.ts'

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

interface DirectReads {
  /** TOO_LARGE when a worker has to repeat it. */
  run<Name extends keyof PointsQueries>(
    replica: number,
    name: Name,
    query: PointsQueries[Name],
    client: AbortSignal,
  ): Promise<PoolResult<PointsResult>>
  close(): Promise<void>
}

interface Connection {
  readonly source: PointsSource
  close(): Promise<void>
  reads: number
}

/** They are read and written in about a millisecond. */
const directRowsMax = 1_500
const connectionsMax = 4

/**
 * Reads of few rows, on the main thread and over its own connections: passing one to a worker thread takes longer than
 * the read itself. A read that finds too many rows gives up, and a worker repeats it.
 */
function createDirectReads(replicas: readonly QuestdbAddress[], limits: QueryLimits): DirectReads {
  const timeouts = { connectTimeoutMs: limits.connectTimeoutMs, statementTimeoutMs: limits.timeoutMs }
  const connectionsByReplica = replicas.map(({ pg }) => {
    return Array.from({ length: connectionsMax }, (): Connection => {
      const { read, close } = createPgConnection(pg, timeouts)
      return { source: createPointsSource({ read }), close, reads: 0 }
    })
  })
  let isClosed = false

  async function run<Name extends keyof PointsQueries>(
    replica: number,
    name: Name,
    query: PointsQueries[Name],
    client: AbortSignal,
  ): Promise<PoolResult<PointsResult>> {
    if (isClosed) return { ok: false, code: 'CLOSING', reason: 'direct reads closed' }
    const connections = connectionsByReplica[replica - 1]
    if (connections === undefined) throw bug(`unknown replica ${replica}`)
    const connection = connections.reduce((least, each) => (each.reads < least.reads ? each : least))
    // A connection runs its reads one after the other.
    if (connection.reads * connectionsMax >= limits.queueMax) {
      return { ok: false, code: 'QUEUE_FULL', reason: `query queue is full (${limits.queueMax})` }
    }
    connection.reads++
    const call = createCall(client, limits.timeoutMs)
    try {
      const context = { source: connection.source, rowsMax: directRowsMax, signal: call.signal }
      return { ok: true, encoded: await pointsTasks[name](query, context) }
    } catch (error) {
      return failureOf(error, call.isLate())
    } finally {
      call.end()
      connection.reads--
    }
  }

  return {
    run,
    async close() {
      isClosed = true
      await Promise.all(connectionsByReplica.flat().map(({ close }) => close()))
    },
  }
}

/** Rethrows internal errors. */
function failureOf(error: unknown, isLate: boolean): PoolResult<never> {
  const code = failureCode(error)
  if (code === undefined) throw error
  return {
    ok: false,
    code: isLate ? 'TIMED_OUT' : code,
    reason: error instanceof Error ? error.message : String(error),
  }
}

/** A read is cancelled by its deadline or when its client leaves, whichever is first. */
function createCall(client: AbortSignal, deadlineMs: number) {
  const stopping = new AbortController()
  let isLate = false
  const leave = () => stopping.abort()
  const timer = setTimeout(() => {
    isLate = true
    stopping.abort()
  }, deadlineMs)
  client.addEventListener('abort', leave, { once: true })
  return {
    signal: stopping.signal,
    isLate: () => isLate,
    end() {
      clearTimeout(timer)
      client.removeEventListener('abort', leave)
    },
  }
}
