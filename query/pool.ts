/** Worker threads for one kind of queries, with a bounded queue, a deadline and cancellation. */

import { MessageChannel, type ResourceLimits } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Log } from '../store/log.ts'
import { threadEnvironment } from '../store/thread-environment.ts'
import type { Encoded, TaskResult, WorkerSettings } from './task.ts'

export interface PoolOptions {
  /** A module that exports one function for each query, under the query's name. */
  readonly worker: URL
  readonly settings: WorkerSettings
  readonly threadsMax: number
  readonly resourceLimits: ResourceLimits
  /** Queries that may wait for a thread. */
  readonly queueMax: number
  /** Time limit of a query, its wait included. Then it is asked to stop, and its thread is ended if it does not. */
  readonly deadlineMs: number
  readonly log: Pick<Log, 'error'>
}

export type PoolResult<Result = Encoded> =
  | TaskResult<Result>
  | { readonly ok: false; readonly code: 'QUEUE_FULL' | 'CLOSING'; readonly reason: string }

/** Names and parameters of the queries. */
export type QueriesOf<Queries> = Record<keyof Queries, object>

export interface Pool<Queries extends QueriesOf<Queries>, Result = Encoded> {
  /** The deadline counts from `sinceMs` of `performance.now()`, by default from now. */
  run<Name extends keyof Queries & string>(
    name: Name,
    query: Queries[Name],
    signal: AbortSignal,
    sinceMs?: number,
  ): Promise<PoolResult<Result>>
  /** Queries that wait for a thread. */
  queueLength(): number
  close(): Promise<void>
}

/** Reasons of a cancellation from this side, with their codes. */
const cancelled = {
  late: { ok: false, code: 'TIMED_OUT', reason: 'query timed out' },
  left: { ok: false, code: 'CANCELLED', reason: 'client disconnected' },
  closed: { ok: false, code: 'CLOSING', reason: 'query pool closed' },
} as const satisfies Record<string, PoolResult<never>>

/** A task that waits for QuestDB stops immediately on request. */
const stopMsMax = 2000

export function createPool<Queries extends QueriesOf<Queries>, Result = Encoded>(
  options: PoolOptions,
): Pool<Queries, Result> {
  const { queueMax, deadlineMs, log } = options
  const threads = new Piscina({
    filename: options.worker.href,
    workerData: options.settings,
    // A thread takes some 25 MB, so the first one starts with the first query.
    minThreads: 0,
    maxThreads: options.threadsMax,
    // A thread that ends loses its connection, its prepared statements and its compiled code.
    idleTimeout: Number.POSITIVE_INFINITY,
    // Otherwise an idle thread sleeps so deeply that it does not see its connection break.
    atomics: 'disabled',
    resourceLimits: options.resourceLimits,
    // Workers get their settings as data, and must not read the environment of the process.
    env: threadEnvironment(),
    execArgv: [],
  })
  threads.on('error', (error: unknown) => log.error({ err: error }, 'query worker thread failed'))
  let closing: Promise<void> | undefined

  async function run(
    name: string,
    query: object,
    signal: AbortSignal,
    sinceMs = performance.now(),
  ): Promise<PoolResult<Result>> {
    if (closing !== undefined) return cancelled.closed
    if (threads.queueSize >= queueMax)
      return { ok: false, code: 'QUEUE_FULL', reason: `query queue is full (${queueMax})` }
    const endMs = sinceMs + deadlineMs
    const call = createCall(Math.max(0, endMs - performance.now()))
    const leave = () => call.cancel('left')
    signal.addEventListener('abort', leave, { once: true })
    try {
      const result = await execute(name, query, call)
      // This process was suspended meanwhile, so the data behind the query's plan may be gone.
      return result.ok && performance.now() > endMs + stopMsMax ? cancelled.late : result
    } finally {
      signal.removeEventListener('abort', leave)
      call.end()
    }
  }

  async function execute(
    name: string,
    query: object,
    call: ReturnType<typeof createCall>,
  ): Promise<PoolResult<Result>> {
    const { controlOfWorker, thread } = call
    try {
      const task = { ...query, control: controlOfWorker }
      const result = await threads.run(task, { name, transferList: [controlOfWorker], signal: thread })
      return result.ok ? result : (call.failure() ?? result)
    } catch (error) {
      const failure = closing === undefined ? call.failure() : cancelled.closed
      if (failure === undefined) throw error
      return failure
    }
  }

  function close(): Promise<void> {
    closing ??= threads.destroy()
    return closing
  }

  return { run, queueLength: () => threads.queueSize, close }
}

/** One query in progress, aborted by its deadline or by its client, whichever is first. */
function createCall(deadlineMs: number) {
  const { port1: control, port2: controlOfWorker } = new MessageChannel()
  const thread = new AbortController()
  let begun = false
  let why: 'late' | 'left' | undefined
  control.on('message', () => {
    begun = true
  })
  // Aborting a running task ends its thread, so a task that has begun is asked to stop by itself.
  function cancel(reason: 'late' | 'left'): void {
    why ??= reason
    if (begun) control.postMessage('stop')
    else thread.abort()
  }
  let timer = setTimeout(() => {
    cancel('late')
    timer = setTimeout(() => thread.abort(), stopMsMax)
  }, deadlineMs)
  return {
    controlOfWorker,
    thread: thread.signal,
    cancel,
    /** Undefined while it is not cancelled. */
    failure: () => why && cancelled[why],
    end() {
      clearTimeout(timer)
      control.close()
    },
  }
}

/** Takes every result of every pool. */
export type AvailabilityLog = (result: PoolResult<unknown>) => void

/** Logs when QuestDB stops answering queries and when it answers again. */
export function createAvailabilityLog(log: Pick<Log, 'info' | 'warn'>): AvailabilityLog {
  let isAway = false
  return result => {
    if (result.ok) {
      if (isAway) log.info('QuestDB answers queries again')
      isAway = false
      return
    }
    const { code, reason } = result
    if (code !== 'DATABASE_AWAY' && code !== 'TIMED_OUT') return
    if (!isAway) log.warn({ code, reason }, 'query failed: QuestDB unavailable')
    isAway = true
  }
}
