/** RETENTION_DAYS: checks at intervals which days of raw readings are due, expires them and reports the state. */

import { setTimeout as sleep } from 'node:timers/promises'
import { bug } from '../../../store/limits/bug.ts'
import type { Log } from '../../../store/log.ts'
import { replicaFault } from '../../../store/questdb/questdb-replicas.ts'
import { ArchiveWait } from '../archive/archive.ts'
import { type DueDays, dueDays, type WaitingDays } from './due-days.ts'
import { dayText, type RawDay } from './expired-days.ts'
import { type AcceptedFrom, type ClockHorizon, createClockHorizon, horizonMs } from './horizon.ts'
import { logWaiting, type RetentionNodes, type RetentionState, stateAtStart } from './retention-nodes.ts'
import {
  createRetentionReplica,
  type ExpiringReplica,
  NotLeading,
  type RetentionReplica,
  type RetentionTiming,
} from './retention-replica.ts'
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

interface RetentionRunOptions {
  replicas: readonly RetentionReplica[]
  days: number | undefined
  acceptedFrom: AcceptedFrom
  nodes: RetentionNodes | undefined
  state: RetentionState
  log: Log
}

interface RetentionRun {
  /**
   * Rejects with NotLeading if another node leads, and, after all possible work, if replicas are unavailable. `clock`
   * is undefined if readings no longer expire.
   */
  run(clock: ClockHorizon | undefined): Promise<void>
  /** Reads expired days and the leader's state. */
  follow(): Promise<void>
}

type ReplicaWork = (replica: RetentionReplica) => Promise<void>

/**
 * Reads the expired days of all replicas and, at the leading node, decides which days are due and expires them in each replica. A
 * replica that is unavailable or fails delays only its own days.
 */
function createRetentionRun(options: RetentionRunOptions): RetentionRun {
  const { replicas, days, acceptedFrom, nodes, log, state } = options
  /** Newest reading of each replica at its last read. */
  const newestMs = new Map<number, number>()
  /** Readings of days that some replicas have removed since the start, by the start of the day. */
  const removed = new Map<number, number>()

  /** Returns the replicas that succeeded. */
  async function atEach(some: readonly RetentionReplica[], faults: unknown[], work: ReplicaWork) {
    const ended = await Promise.allSettled(some.map(work))
    return some.filter((replica, at) => {
      const one = ended[at] as PromiseSettledResult<void>
      if (one.status === 'rejected')
        faults.push(one.reason instanceof NotLeading ? one.reason : replicaFault(replicas, replica, one.reason))
      return one.status === 'fulfilled'
    })
  }

  function dueIn(some: readonly RetentionReplica[], clock: ClockHorizon, days: number): DueDays {
    const newestHorizonMs = horizonMs(Math.max(...newestMs.values()), days)
    const rawDays = unexpiredDays(some)
    return dueDays({ rawDays, ...clock, newestHorizonMs, confirmedMs: acceptedFrom.raisedMs() })
  }

  function noteWaiting(waiting: WaitingDays | undefined): void {
    if (waiting?.reason !== state.waiting?.reason) logWaiting(log, waiting)
    state.waiting = waiting
  }

  /** A day has expired when no replica has its raw readings. */
  function noteRemoved(): void {
    for (const [startMs, readings] of removed) {
      const inUse = replicas.filter(replica => !replica.isLost())
      if (!inUse.every(replica => replica.rawDays()?.every(day => day.startMs !== startMs))) continue
      removed.delete(startMs)
      log.info({ day: dayText(startMs), readings }, 'raw readings of a day expired; their hours stay')
      state.expiredDays++
    }
  }

  return {
    async run(clock) {
      const up = replicas.filter(replica => replica.isUp() && !replica.isLost())
      const away = replicas.filter(replica => !(up.includes(replica) || replica.isLost()))
      const faults: unknown[] = away.map(replica =>
        replicaFault(replicas, replica, new Error('QuestDB is unavailable')),
      )
      const looked = await atEach(up, faults, replica => replica.look())
      state.oldestDayMs = oldestMs(replicas)
      if (clock !== undefined && days !== undefined) {
        const asked = await atEach(looked, faults, async replica => {
          newestMs.set(replica.number, await replica.newestMs())
        })
        const due = asked.length === 0 ? undefined : dueIn(asked, clock, days)
        // Days that expired in another replica while this one was unavailable.
        const elsewhereMs = Math.max(...replicas.map(replica => replica.expiredBeforeMs()))
        const beforeMs = Math.max(
          due?.expireBeforeMs ?? Number.NEGATIVE_INFINITY,
          Math.min(elsewhereMs, clock.steadyMs),
        )
        await atEach(asked, faults, async replica => {
          const days = await replica.expire(beforeMs)
          for (const { startMs, readings } of days) removed.set(startMs, (removed.get(startMs) ?? 0) + readings)
          if (days.length > 0) await replica.look()
        })
        noteRemoved()
        if (due !== undefined) noteWaiting(due.waiting ?? archiveWait(asked, beforeMs, faults))
        state.oldestDayMs = oldestMs(replicas)
      }
      throwFaults(faults)
    },
    async follow() {
      const faults: unknown[] = []
      const up = replicas.filter(replica => replica.isUp() && !replica.isLost())
      await atEach(up, faults, replica => replica.look())
      Object.assign(state, stateAtStart(days), await nodes?.read())
      throwFaults(faults)
    },
  }
}

/** Days that any replica has, ascending. */
function unexpiredDays(replicas: readonly RetentionReplica[]): RawDay[] {
  const readings = new Map<number, number>()
  for (const replica of replicas) {
    const expiredBeforeMs = replica.expiredBeforeMs()
    for (const day of replica.rawDays() ?? []) {
      if (day.startMs >= expiredBeforeMs) readings.set(day.startMs, (readings.get(day.startMs) ?? 0) + day.readings)
    }
  }
  const days = [...readings].map(([startMs, readings]) => ({ startMs, readings }))
  return days.sort((a, b) => a.startMs - b.startMs)
}

/** Days that stay because the archive does not have them. */
function archiveWait(
  replicas: readonly RetentionReplica[],
  beforeMs: number,
  faults: readonly unknown[],
): WaitingDays | undefined {
  const isAway = faults.some(fault => fault instanceof ArchiveWait || (fault as Error).cause instanceof ArchiveWait)
  const due = unexpiredDays(replicas).filter(({ startMs }) => startMs < beforeMs)
  const [oldest] = due
  if (!isAway || oldest === undefined) return undefined
  return { fromMs: oldest.startMs, beforeMs, days: due.length, reason: 'archive_unavailable' }
}

function oldestMs(replicas: readonly RetentionReplica[]): number | undefined {
  const starts = replicas.flatMap(replica => replica.rawDays()?.[0]?.startMs ?? [])
  return starts.length === 0 ? undefined : Math.min(...starts)
}

function throwFaults(faults: readonly unknown[]): void {
  const [first, ...others] = faults
  if (first === undefined) return
  const notLeading = faults.find(fault => fault instanceof NotLeading)
  if (notLeading !== undefined) throw notLeading
  if (others.length === 0) throw first
  throw new Error(faults.map(fault => (fault instanceof Error ? fault.message : String(fault))).join('; '))
}
