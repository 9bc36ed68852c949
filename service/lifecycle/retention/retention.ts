/** RETENTION_DAYS: checks at intervals which days of raw readings are due, expires them and reports the state. */

import { setTimeout as sleep } from 'node:timers/promises'
import { bug } from '../../../store/limits/bug.ts'
import type { Log } from '../../../store/log.ts'
import type { AcceptedFrom } from './accepted-from.ts'
import { createClockHorizon } from './horizon.ts'
import type { RetentionNodes } from './retention-nodes.ts'
import {
  createRetentionReplica,
  type ExpiringReplica,
  NotLeading,
  type RetentionReplica,
  type RetentionTiming,
} from './retention-replica.ts'
import { createRetentionRun } from './retention-run.ts'
import { type RetentionState, stateAtStart } from './retention-state.ts'
import { createSharedLock, type SharedLock } from './shared-lock.ts'

export interface Retention {
  /**
   * Readings before this have expired in a replica, which keeps only their hours; -Infinity if none have. Without a
   * replica: in any of them, so that all have the rows after it. Epoch microseconds.
   */
  expiredBeforeUs(replica?: number): number
  /** True if the bound is known; queries may not read the replica without it. Without a replica: of any. */
  isKnown(replica?: number): boolean
  /** Runs work during which no day expires. */
  whileNoDayExpires: SharedLock['shared']
  state(): Readonly<RetentionState>
  /** Confirms pending days before the start of a day in epoch milliseconds. False without such days. */
  confirm(beforeMs: number): Promise<boolean>
  close(): Promise<void>
}

export interface RetentionOptions {
  days: number | undefined
  acceptedFrom: AcceptedFrom
  replicas: readonly ExpiringReplica[]
  nowMs: () => number
  /** Undefined for a single process. */
  nodes?: RetentionNodes | undefined
  timing: RetentionTiming
  log: Log
}

const retryMs = 1000
const monotonicMs = () => performance.now()

export function openRetention(options: RetentionOptions): Retention {
  const { days, acceptedFrom, nowMs, nodes, timing, log } = options
  const closing = new AbortController()
  const { signal } = closing
  const locked = lockedReplicas(options, signal)
  const replicas = locked.map(({ replica }) => replica)
  const state = stateAtStart(days)
  const leads = () => nodes?.leads() ?? true
  const { run: runOnce, follow } = createRetentionRun({ replicas, days, acceptedFrom, nodes, state, log })
  const { marginMs, checkEveryMs } = timing
  const readClock = days === undefined ? undefined : createClockHorizon({ days, nowMs, monotonicMs, marginMs })
  const isLimited = acceptedFrom.isLimited()
  let isStarted = false

  function failed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (reason !== state.fault) log.warn({ reason }, 'raw readings cannot expire, retrying')
    state.fault = reason
  }

  async function tryRun(): Promise<void> {
    // The clock is observed even while QuestDB is unavailable or another node leads.
    const clock = readClock?.()
    if (!replicas.some(replica => replica.isUp())) return
    try {
      if (!leads()) return await follow()
      await runOnce(clock)
      state.fault = undefined
    } catch (error) {
      if (signal.aborted || error instanceof NotLeading) return
      failed(error)
    }
    state.lastRunMs = nowMs()
    // The next run publishes it again.
    if (leads()) await nodes?.publish(state).catch(() => undefined)
  }

  async function runUntilClosed(): Promise<void> {
    await Promise.any(options.replicas.map(({ questdb }) => questdb.ready))
    isStarted = true
    while (!signal.aborted) {
      await tryRun()
      const waitMs = replicas.every(replica => replica.isKnown()) ? checkEveryMs : Math.min(retryMs, checkEveryMs)
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async function confirm(beforeMs: number): Promise<boolean> {
    const published = leads() ? state : { ...state, ...(await nodes?.read()) }
    const { waiting } = published
    if (waiting === undefined || waiting.reason === 'archive_unavailable') return false
    if (beforeMs <= waiting.fromMs || beforeMs > waiting.beforeMs) return false
    await acceptedFrom.raise(beforeMs)
    state.waiting = undefined
    await nodes?.publish({ ...published, waiting: undefined })
    return true
  }

  // If readings never expired, QuestDB is not queried.
  const running = isLimited ? runUntilClosed().catch(() => undefined) : Promise.resolve()
  return {
    expiredBeforeUs: number => Math.max(...chosen(replicas, number).map(replica => replica.expiredBeforeMs())) * 1000,
    isKnown: number => !isLimited || chosen(replicas, number).every(replica => replica.isKnown()),
    whileNoDayExpires: work =>
      locked.reduce(
        (inner, { lock }) =>
          () =>
            lock.shared(inner),
        work,
      )(),
    state: () => state,
    confirm,
    async close() {
      closing.abort()
      // Before QuestDB was ready, no run is in progress.
      if (isStarted) await running
    },
  }
}

interface LockedReplica {
  lock: SharedLock
  replica: RetentionReplica
}

/** Each replica has its own lock: a long run delays no other. */
function lockedReplicas({ replicas, ...options }: RetentionOptions, signal: AbortSignal): LockedReplica[] {
  const marksEmptyDays = replicas.length > 1
  return replicas.map(replica => {
    const lock = createSharedLock()
    return { lock, replica: createRetentionReplica({ ...options, replica, lock, monotonicMs, marksEmptyDays, signal }) }
  })
}

function chosen(replicas: readonly RetentionReplica[], number: number | undefined): readonly RetentionReplica[] {
  if (number === undefined) return replicas
  const found = replicas.filter(replica => replica.number === number)
  if (found.length !== 1) throw bug(`there is no replica ${number}`)
  return found
}
