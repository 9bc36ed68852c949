/**
 * One run of retention: looks in all shards which days have expired, and, at the one node that does so, decides for the service
 * what is due and makes it expire in each of them. A shard that is away or fails delays what it has itself, and no other.
 */

import type { Log } from '../../store/log.ts'
import { shardFault } from '../../store/questdb/questdb-shards.ts'
import type { AcceptedFrom } from './accepted-from.ts'
import { dueDays } from './due-days.ts'
import { dayText, type RawDay } from './expired-days.ts'
import { type ClockHorizon, horizonMs } from './horizon.ts'
import type { RetentionNodes } from './retention-nodes.ts'
import { NotLeading, type RetentionShard } from './retention-shard.ts'
import { logWaiting, type RetentionState, stateAtStart } from './retention-state.ts'

export interface RetentionRunOptions {
  shards: readonly RetentionShard[]
  days: number | undefined
  acceptedFrom: AcceptedFrom
  nodes: RetentionNodes | undefined
  /** Brought up to date. */
  state: RetentionState
  log: Log
}

export interface RetentionRun {
  /**
   * Rejects with NotLeading where another node leads by now, and, when all is done that can be, for shards that are away. `clock`:
   * undefined where nothing expires any more.
   */
  run(clock: ClockHorizon | undefined): Promise<void>
  /** What has expired, and what the node that leads tells. */
  follow(): Promise<void>
}

type ShardWork = (shard: RetentionShard) => Promise<void>

export function createRetentionRun(options: RetentionRunOptions): RetentionRun {
  const { shards, days, acceptedFrom, nodes, log, state } = options
  /** The newest reading of each shard, when it was last asked. */
  const newestMs = new Map<number, number>()
  /** Of days that were removed from some shards since the start, the readings, by the start of the day. */
  const removed = new Map<number, number>()

  /** Gives those where it was done. */
  async function atEach(some: readonly RetentionShard[], faults: unknown[], work: ShardWork) {
    const ended = await Promise.allSettled(some.map(work))
    return some.filter((shard, at) => {
      const one = ended[at] as PromiseSettledResult<void>
      if (one.status === 'rejected')
        faults.push(one.reason instanceof NotLeading ? one.reason : shardFault(shards, shard, one.reason))
      return one.status === 'fulfilled'
    })
  }

  function dueBeforeMs(some: readonly RetentionShard[], clock: ClockHorizon, days: number): number {
    const newestHorizonMs = horizonMs(Math.max(...newestMs.values()), days)
    const rawDays = unexpiredDays(some)
    const due = dueDays({ rawDays, ...clock, newestHorizonMs, confirmedMs: acceptedFrom.raisedMs() })
    if (due.waiting?.reason !== state.waiting?.reason) logWaiting(log, due.waiting)
    state.waiting = due.waiting
    return due.expireBeforeMs
  }

  /** A day has expired when no shard has its raw readings any more. */
  function noteRemoved(): void {
    for (const [startMs, readings] of removed) {
      if (!shards.every(shard => shard.rawDays()?.every(day => day.startMs !== startMs))) continue
      removed.delete(startMs)
      log.info({ day: dayText(startMs), readings }, 'raw readings of a day expired; their hours stay')
      state.expiredDays++
    }
  }

  return {
    async run(clock) {
      const up = shards.filter(shard => shard.isUp())
      const away = shards.filter(shard => !up.includes(shard))
      const faults: unknown[] = away.map(shard => shardFault(shards, shard, new Error('QuestDB is unavailable')))
      const looked = await atEach(up, faults, shard => shard.look())
      state.oldestDayMs = oldestMs(shards)
      if (clock !== undefined && days !== undefined) {
        const asked = await atEach(looked, faults, async shard => {
          newestMs.set(shard.number, await shard.newestMs())
        })
        const dueMs = asked.length === 0 ? Number.NEGATIVE_INFINITY : dueBeforeMs(asked, clock, days)
        // What has expired in another shard while this one was away.
        const elsewhereMs = Math.max(...shards.map(shard => shard.expiredBeforeMs()))
        const beforeMs = Math.max(dueMs, Math.min(elsewhereMs, clock.steadyMs))
        await atEach(asked, faults, async shard => {
          const days = await shard.expire(beforeMs)
          for (const { startMs, readings } of days) removed.set(startMs, (removed.get(startMs) ?? 0) + readings)
          if (days.length > 0) await shard.look()
        })
        noteRemoved()
        state.oldestDayMs = oldestMs(shards)
      }
      throwFaults(faults)
    },
    async follow() {
      const faults: unknown[] = []
      const up = shards.filter(shard => shard.isUp())
      await atEach(up, faults, shard => shard.look())
      Object.assign(state, stateAtStart(days), await nodes?.read())
      throwFaults(faults)
    },
  }
}

/** Those that some shard has, ascending. */
function unexpiredDays(shards: readonly RetentionShard[]): RawDay[] {
  const readings = new Map<number, number>()
  for (const shard of shards) {
    const expiredBeforeMs = shard.expiredBeforeMs()
    for (const day of shard.rawDays() ?? []) {
      if (day.startMs >= expiredBeforeMs) readings.set(day.startMs, (readings.get(day.startMs) ?? 0) + day.readings)
    }
  }
  const days = [...readings].map(([startMs, readings]) => ({ startMs, readings }))
  return days.sort((a, b) => a.startMs - b.startMs)
}

function oldestMs(shards: readonly RetentionShard[]): number | undefined {
  const starts = shards.flatMap(shard => shard.rawDays()?.[0]?.startMs ?? [])
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
