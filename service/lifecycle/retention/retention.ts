/** RETENTION_DAYS: looks now and then which days of raw readings have to expire, and tells what became of it. */

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
   * The readings before this have expired in a replica, and only their hours are there; -Infinity when none have. Without a replica: in
   * any of them, so that all have them from then on. Epoch microseconds.
   */
  expiredBeforeUs(replica?: number): number
  /** Whether that is known; without it no query may be answered from the replica. Without a replica: from any of them. */
  isKnown(replica?: number): boolean
  /** Runs work during which no day expires. */
  whileNoDayExpires: SharedLock['shared']
  state(): Readonly<RetentionState>
  /**
   * Lets the waiting days before this moment expire, the start of a day in epoch milliseconds. Durable when it resolves; false
   * when no such days wait.
   */
  confirm(beforeMs: number): Promise<boolean>
  close(): Promise<void>
}

export interface RetentionOptions {
  days: number | undefined
  acceptedFrom: AcceptedFrom
  replicas: readonly ExpiringReplica[]
  nowMs: () => number
  /** Undefined for a service that is alone. */
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
    // Also while QuestDB is away, and another node leads: it is the clock that is watched.
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
    // The next run tells it again.
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
    const told = leads() ? state : { ...state, ...(await nodes?.read()) }
    const { waiting } = told
    if (waiting === undefined || waiting.reason === 'archive_unavailable') return false
    if (beforeMs <= waiting.fromMs || beforeMs > waiting.beforeMs) return false
    await acceptedFrom.raise(beforeMs)
    state.waiting = undefined
    await nodes?.publish({ ...told, waiting: undefined })
    return true
  }

  // Where readings never expired, nothing is asked of QuestDB.
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
      // Before QuestDB was ready there is nothing to wait for.
      if (isStarted) await running
    },
  }
}

interface LockedReplica {
  lock: SharedLock
  replica: RetentionReplica
}

/** The days of each are locked by themselves: one that takes long holds up no other. */
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
