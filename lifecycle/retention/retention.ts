/** RETENTION_DAYS: looks now and then which days of raw readings have to expire, and tells what became of it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { createClockHorizon } from './horizon.ts'
import { createRetentionRun, NotLeading, type RetentionOptions } from './retention-run.ts'
import { type RetentionState, stateAtStart } from './retention-state.ts'
import { createSharedLock, type SharedLock } from './shared-lock.ts'

export interface Retention {
  /** The readings before this have expired, and only their hours are there; -Infinity when none have. Epoch microseconds. */
  expiredBeforeUs(): number
  /** Whether that is known; without it no query may be answered. */
  isKnown(): boolean
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

const retryMs = 1000
const monotonicMs = () => performance.now()

export function openRetention(options: RetentionOptions): Retention {
  const { days, acceptedFrom, questdb, nowMs, nodes, timing, log } = options
  const closing = new AbortController()
  const { signal } = closing
  const lock = createSharedLock()
  const state = stateAtStart(days)
  const leads = () => nodes?.leads() ?? true
  const { run: runOnce, follow, isKnown, ...run } = createRetentionRun({ ...options, lock, monotonicMs, state, signal })
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
    if (questdb.state().state !== 'up') return
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
    await questdb.ready
    isStarted = true
    while (!signal.aborted) {
      await tryRun()
      const waitMs = isKnown() ? checkEveryMs : Math.min(retryMs, checkEveryMs)
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async function confirm(beforeMs: number): Promise<boolean> {
    const told = leads() ? state : { ...state, ...(await nodes?.read()) }
    const { waiting } = told
    if (waiting === undefined || beforeMs <= waiting.fromMs || beforeMs > waiting.beforeMs) return false
    await acceptedFrom.raise(beforeMs)
    state.waiting = undefined
    await nodes?.publish({ ...told, waiting: undefined })
    return true
  }

  // Where readings never expired, nothing is asked of QuestDB.
  const running = isLimited ? runUntilClosed().catch(() => undefined) : Promise.resolve()
  return {
    expiredBeforeUs: () => run.expiredBeforeMs() * 1000,
    isKnown: () => !isLimited || isKnown(),
    whileNoDayExpires: lock.shared,
    state: () => state,
    confirm,
    async close() {
      closing.abort()
      // Before QuestDB was ready there is nothing to wait for.
      if (isStarted) await running
    },
  }
}
