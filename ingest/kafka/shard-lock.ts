/**
 * One process at a time forwards a shard: an older value that a second one sends could replace a newer one. Who forwards holds
 * an advisory lock of PostgreSQL on a session of its own, and asks that session something each second, the heartbeat.
 *
 * - A process that ends or loses its connection loses the lock with its session.
 * - A process that is frozen, or cut from PostgreSQL, sends no heartbeat, and PostgreSQL ends its session after 5 s
 *   (`idle_session_timeout`): later than `holdMs`, so that a late heartbeat is forgiven.
 * - A process may send until `holdMs` after its last successful heartbeat began, by its monotonic clock. One that goes on after a
 *   freeze sees that before it sends (`isHeld`), whether or not it has heard of its session.
 *
 * Why a successor may send when it has had the lock for `holdMs`: it got the lock when the session of its predecessor had ended,
 * at a time E. That session has answered no heartbeat that began after E, so the predecessor begins no request from
 * E + `holdMs` on. The clocks of the two need not agree; they need to run equally fast, up to what the wait for
 * QuestDB's answers (`quiesce`) that follows leaves room for. A predecessor that gave the shard back (`release`) had nothing in
 * flight, and there is nothing to wait for.
 *
 * What this cannot exclude: a request that was checked and stood still with its process before all of its bytes were sent; and
 * a virtual machine that was paused together with its clock, which sends until it hears of its session, a second later at
 * most. When such a process goes on it asks its successor to send again (`requestRewind` of shard-state.ts). Nor two servers of
 * PostgreSQL that both answer, as when a standby is promoted beside its primary: each has locks of its own.
 *
 * While PostgreSQL is away nobody forwards: the lock is lost, and `acquireShard` tries until PostgreSQL is back.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { type Heartbeat, holdMs, startHeartbeat } from './heartbeat.ts'
import { clearHolder, closeSession, endSession, openSession, raiseEpoch, shardRow, tryLock } from './shard-session.ts'
import type { ShardTenure } from './shard-state.ts'

const retryMs = 500

export interface ShardLockOptions {
  shard: string
  /** The name of this process, for people. */
  holder: string
  /** Makes a session of its own, without time limits, and hears its errors, as `Store.connectPostgres` does. */
  connect: () => Promise<pg.Client>
  log: Log
}

export interface HeldShard extends ShardTenure, Pick<Heartbeat, 'hold' | 'onLost'> {
  /** The process that had the shard before and may still be sending, by its name; undefined when it gave the shard back. */
  predecessor: string | undefined
  /** How long to wait before the first request: `holdMs`, or nothing without a predecessor. */
  waitMs: number
  /** Whether this process may send at this moment. After a late heartbeat it may be true again, after `onLost` it is not. */
  isHeld(): boolean
  /**
   * Gives the shard back; unless it is quiet, as one that may have a request in flight, for which the next holder waits. May be
   * called twice, and when it is lost.
   */
  release(isQuiet?: boolean): Promise<void>
}

/** Resolves when this process has the lock; rejects when the signal aborts, or with an error that waiting does not mend. */
export async function acquireShard(options: ShardLockOptions, signal: AbortSignal): Promise<HeldShard> {
  const { shard, connect, log } = options
  const tellStandby = createStandbyLog(options)
  for (;;) {
    signal.throwIfAborted()
    let session: pg.Client | undefined
    try {
      session = await openSession(connect)
      const beganNs = await untilLocked(session, shard, signal, tellStandby)
      const held = await takeOver(session, options, beganNs)
      if (signal.aborted) await held.release()
      signal.throwIfAborted()
      log.info({ shard, epoch: held.epoch, predecessor: held.predecessor }, 'shard acquired')
      return held
    } catch (error) {
      endSession(session)
      signal.throwIfAborted()
      // That PostgreSQL is unavailable is logged by others.
      if (!isUnavailable(error)) throw error
      await pause(signal)
    }
  }
}

/** When the statement began that got the lock. */
async function untilLocked(
  session: pg.Client,
  shard: string,
  signal: AbortSignal,
  tellStandby: (holder: string | null) => void,
): Promise<bigint> {
  for (;;) {
    const { number, holder } = await shardRow(session, shard)
    const beganNs = process.hrtime.bigint()
    if (await tryLock(session, number)) return beganNs
    tellStandby(holder)
    await pause(signal)
    signal.throwIfAborted()
  }
}

async function takeOver(session: pg.Client, { shard, holder }: ShardLockOptions, beganNs: bigint): Promise<HeldShard> {
  const { epoch, predecessor } = await raiseEpoch(session, shard, holder)
  const tenure: ShardTenure = { shard, holder, epoch }
  const heartbeat = startHeartbeat(session, beganNs)
  const { hold, onLost } = heartbeat
  return {
    ...tenure,
    predecessor,
    waitMs: predecessor === undefined ? 0 : holdMs,
    hold,
    onLost,
    isHeld: () => hold.isHeld(),
    async release(isQuiet = true) {
      if (!heartbeat.stop()) return
      // Where it fails the shard counts as not given back, and the successor waits.
      if (isQuiet) await clearHolder(session, tenure).catch(() => undefined)
      await closeSession(session)
    },
  }
}

/** Tells once of each holder that this process waits for it. */
function createStandbyLog({ shard, log }: ShardLockOptions): (holder: string | null) => void {
  let told: string | null = null
  return holder => {
    if (holder !== null && holder !== told) log.info({ shard, holder }, 'shard held by another process, standing by')
    told = holder
  }
}

/** An abort ends it. */
async function pause(signal: AbortSignal): Promise<void> {
  await sleep(retryMs, undefined, { signal }).catch(() => undefined)
}
