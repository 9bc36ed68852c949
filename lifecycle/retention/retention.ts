/** RETENTION_DAYS: looks now and then which days of raw readings have to expire, and tells what became of it. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import type { Store } from '../../store/store.ts'
import type { AcceptedFrom } from './accepted-from.ts'
import { dueDays, type WaitingDays } from './due-days.ts'
import { dayText, type RawDay, readNewestMs } from './expired-days.ts'
import { Expiry, type ExpiryOptions } from './expiry.ts'
import { type ClockHorizon, createClockHorizon, horizonMs } from './horizon.ts'
import { createSharedLock, type SharedLock } from './shared-lock.ts'

export interface RetentionState {
  /** RETENTION_DAYS */
  days: number | undefined
  /** The oldest day with raw readings, epoch milliseconds; undefined until it is known, and where there are none. */
  oldestDayMs: number | undefined
  /** Days whose raw readings were removed since the start. */
  expiredDays: number
  /** Epoch milliseconds; undefined before the first run. */
  lastRunMs: number | undefined
  /** Why the last run failed. */
  fault: string | undefined
  /** Days that are due and stay until a person confirms, or what they lack has come. */
  waiting: WaitingDays | undefined
}

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

interface RetentionTiming {
  checkEveryMs: number
  /** How long a reading may be on its way from its check to the journal, and a clock be wrong. */
  marginMs: number
  graceMs: number
}

export interface RetentionOptions extends Pick<ExpiryOptions, 'exec' | 'ingest'> {
  days: number | undefined
  acceptedFrom: AcceptedFrom
  questdb: Pick<Store['questdb'], 'ready' | 'state'>
  nowMs: () => number
  timing: RetentionTiming
  log: Log
}

const stateAtStart = (days: number | undefined): RetentionState => ({
  days,
  oldestDayMs: undefined,
  expiredDays: 0,
  lastRunMs: undefined,
  fault: undefined,
  waiting: undefined,
})

const retryMs = 1000
const pauseMs = 100
/** QuestDB applies within seconds what it has taken, unless something is wrong with it. */
const waitMsMax = 600_000
const monotonicMs = () => performance.now()

export function openRetention(options: RetentionOptions): Retention {
  const { days, acceptedFrom, questdb, nowMs, timing, log } = options
  const closing = new AbortController()
  const { signal } = closing
  const lock = createSharedLock()
  const expiry = new Expiry({ ...options, lock, monotonicMs, graceMs: timing.graceMs })
  const { marginMs } = timing
  const readClock = days === undefined ? undefined : createClockHorizon({ days, nowMs, monotonicMs, marginMs })
  const state = stateAtStart(days)
  let isKnown = !acceptedFrom.isLimited()
  let isStarted = false

  async function dueBeforeMs(all: readonly RawDay[], clock: ClockHorizon, days: number): Promise<number> {
    const rawDays = all.filter(({ startMs }) => startMs >= expiry.expiredBeforeMs)
    const newestHorizonMs = horizonMs(await readNewestMs(options.exec), days)
    const due = dueDays({ rawDays, ...clock, newestHorizonMs, confirmedMs: acceptedFrom.raisedMs() })
    if (due.waiting?.reason !== state.waiting?.reason) logWaiting(log, due.waiting)
    state.waiting = due.waiting
    return due.expireBeforeMs
  }

  async function runOnce(clock: ClockHorizon | undefined): Promise<void> {
    const rawDays = await expiry.look()
    state.oldestDayMs = rawDays[0]?.startMs
    isKnown = true
    if (clock === undefined || days === undefined) return
    const pause = pauseUntil(monotonicMs() + waitMsMax, signal)
    await expiry.expire(await dueBeforeMs(rawDays, clock, days), pause)
    const removed = await expiry.remove(pause)
    for (const { startMs, readings } of removed) {
      log.info({ day: dayText(startMs), readings }, 'raw readings of a day expired; their hours stay')
    }
    state.expiredDays += removed.length
    if (removed.length > 0) state.oldestDayMs = (await expiry.look())[0]?.startMs
  }

  async function tryRun(): Promise<void> {
    try {
      // Also while QuestDB is away: it is the clock that is watched.
      const clock = readClock?.()
      if (questdb.state().state !== 'up') return
      await runOnce(clock)
      state.fault = undefined
    } catch (error) {
      if (signal.aborted) return
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== state.fault) log.warn({ reason }, 'raw readings cannot expire, retrying')
      state.fault = reason
    }
    state.lastRunMs = nowMs()
  }

  async function run(): Promise<void> {
    await questdb.ready
    isStarted = true
    while (!signal.aborted) {
      await tryRun()
      const waitMs = isKnown ? timing.checkEveryMs : Math.min(retryMs, timing.checkEveryMs)
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  // Where readings never expired, nothing is asked of QuestDB.
  const running = acceptedFrom.isLimited() ? run().catch(() => undefined) : Promise.resolve()
  return {
    expiredBeforeUs: () => expiry.expiredBeforeMs * 1000,
    isKnown: () => isKnown,
    whileNoDayExpires: lock.shared,
    state: () => state,
    async confirm(beforeMs) {
      const { waiting } = state
      if (waiting === undefined || beforeMs <= waiting.fromMs || beforeMs > waiting.beforeMs) return false
      await acceptedFrom.raise(beforeMs)
      state.waiting = undefined
      return true
    },
    async close() {
      closing.abort()
      // Before QuestDB was ready there is nothing to wait for.
      if (isStarted) await running
    },
  }
}

function pauseUntil(endMs: number, signal: AbortSignal): () => Promise<void> {
  return async () => {
    if (monotonicMs() > endMs) throw new Error('QuestDB does not apply what it has taken')
    await sleep(pauseMs, undefined, { signal, ref: false })
  }
}

function logWaiting(log: Log, waiting: WaitingDays | undefined): void {
  if (waiting === undefined) {
    log.info('no raw readings wait to expire any more')
    return
  }
  const { fromMs, beforeMs, days, reason } = waiting
  const fields = { days, from: dayText(fromMs), before: dayText(beforeMs) }
  const remedy = `if the clock is right: barograph retention confirm ${fields.before}`
  if (reason === 'several_days') log.warn(fields, `raw readings of several days are due at once and stay; ${remedy}`)
  else log.warn(fields, `raw readings are due and stay, since no newer readings came; ${remedy}`)
}
