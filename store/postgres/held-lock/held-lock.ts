/**
 * One process at a time does something. Who does it holds an advisory lock of PostgreSQL on a session of its own, and asks that
 * session something each second, the heartbeat.
 *
 * - A process that ends or loses its connection loses the lock with its session.
 * - A process that is frozen, or cut from PostgreSQL, sends no heartbeat, and PostgreSQL ends its session after 5 s
 *   (`idle_session_timeout`): later than `holdMs`, so that a late heartbeat is forgiven.
 * - A process may go on until `holdMs` after its last successful heartbeat began, by its monotonic clock. One that goes on after a
 *   freeze sees that before it does anything (`isHeld`), whether or not it has heard of its session.
 *
 * Why a successor may begin when it has had the lock for `holdMs`: it got the lock when the session of its predecessor had ended,
 * at a time E. That session has answered no heartbeat that began after E, so the predecessor begins nothing from
 * E + `holdMs` on. The clocks of the two need not agree; they need to run equally fast. A predecessor that gave the lock back
 * had nothing in flight, and there is nothing to wait for.
 *
 * What this cannot exclude: a request that was checked and stood still with its process before all of its bytes were sent; and
 * a virtual machine that was paused together with its clock, which goes on until it hears of its session, a second later at
 * most. Nor two servers of PostgreSQL that both answer, as when a standby is promoted beside its primary: each has locks of its
 * own.
 *
 * While PostgreSQL is away no process holds the lock: it is lost, and `acquireLock` tries until PostgreSQL is back.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { isUnavailable } from '../postgres-errors.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { closeSession, endSession, openSession } from './lock-session.ts'

const retryMs = 500

export interface LockOptions<Taken> {
  /** Makes a session of its own, without time limits, and hears its errors, as `Store.connectPostgres` does. */
  connect: () => Promise<pg.Client>
  /** Whether the session has got the lock. Without waiting for it: it is called again until it has. */
  tryLock: (session: pg.Client) => Promise<boolean>
  /** Asked first by the session that has got it. */
  take: (session: pg.Client) => Promise<Taken>
  /** Asked last by the session of a process that has nothing in flight. Where it fails, it counts as not asked. */
  giveBack: (session: pg.Client, taken: Taken) => Promise<unknown>
}

export interface HeldLock<Taken> extends Pick<Heartbeat, 'hold' | 'onLost'> {
  taken: Taken
  /** Whether this process has the lock at this moment. After a late heartbeat it may be true again, after `onLost` it is not. */
  isHeld(): boolean
  /** Unless it is quiet, as one that may have a request in flight. May be called twice, and when the lock is lost. */
  release(isQuiet?: boolean): Promise<void>
}

/** Resolves when this process has the lock; rejects when the signal aborts, or with an error that waiting does not mend. */
export async function acquireLock<Taken>(options: LockOptions<Taken>, signal: AbortSignal): Promise<HeldLock<Taken>> {
  for (;;) {
    signal.throwIfAborted()
    let session: pg.Client | undefined
    try {
      session = await openSession(options.connect)
      const beganNs = await untilLocked(session, options, signal)
      const held = await hold(session, options, beganNs)
      if (signal.aborted) await held.release()
      signal.throwIfAborted()
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
async function untilLocked<Taken>(
  session: pg.Client,
  { tryLock }: LockOptions<Taken>,
  signal: AbortSignal,
): Promise<bigint> {
  for (;;) {
    const beganNs = process.hrtime.bigint()
    if (await tryLock(session)) return beganNs
    await pause(signal)
    signal.throwIfAborted()
  }
}

async function hold<Taken>(
  session: pg.Client,
  { take, giveBack }: LockOptions<Taken>,
  beganNs: bigint,
): Promise<HeldLock<Taken>> {
  const taken = await take(session)
  const heartbeat = startHeartbeat(session, beganNs)
  const { hold, onLost } = heartbeat
  return {
    taken,
    hold,
    onLost,
    isHeld: () => hold.isHeld(),
    async release(isQuiet = true) {
      if (!heartbeat.stop()) return
      if (isQuiet) await giveBack(session, taken).catch(() => undefined)
      await closeSession(session)
    },
  }
}

/** An abort ends it. */
async function pause(signal: AbortSignal): Promise<void> {
  await sleep(retryMs, undefined, { signal }).catch(() => undefined)
}
