/**
 * Runs retention once: reads the expired days of all replicas and, at the leading node, decides which days are due and
 * expires them in each replica. A replica that is unavailable or fails delays only its own days.
 */

import type { Log } from '../../../store/log.ts'
import { replicaFault } from '../../../store/questdb/questdb-replicas.ts'
import { ArchiveWait } from '../archive/archive.ts'
import type { AcceptedFrom } from './accepted-from.ts'
import { type DueDays, dueDays, type WaitingDays } from './due-days.ts'
import { dayText, type RawDay } from './expired-days.ts'
import { type ClockHorizon, horizonMs } from './horizon.ts'
import type { RetentionNodes } from './retention-nodes.ts'
import { NotLeading, type RetentionReplica } from './retention-replica.ts'
import { logWaiting, type RetentionState, stateAtStart } from './retention-state.ts'

export interface RetentionRunOptions {
  replicas: readonly RetentionReplica[]
  days: number | undefined
  acceptedFrom: AcceptedFrom
  nodes: RetentionNodes | undefined
  state: RetentionState
  log: Log
}

export interface RetentionRun {
  /**
   * Rejects with NotLeading if another node leads, and, after all possible work, if replicas are unavailable. `clock`
   * is undefined if readings no longer expire.
   */
  run(clock: ClockHorizon | undefined): Promise<void>
  /** Reads expired days and the leader's state. */
  follow(): Promise<void>
}

type ReplicaWork = (replica: RetentionReplica) => Promise<void>

export function createRetentionRun(options: RetentionRunOptions): RetentionRun {
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
