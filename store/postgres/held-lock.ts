/**
 * A lock that one process holds at a time: an advisory lock of PostgreSQL on a separate session. The holder sends a statement on
 * that session each second, the heartbeat.
 *
 * - A process that ends or loses its connection loses the lock with its session.
 * - A process that is frozen, or cut from PostgreSQL, sends no heartbeat, and PostgreSQL ends its session after 5 s
 *   (`idle_session_timeout`): later than `holdMs`, so that a late heartbeat is forgiven.
 * - A process may act until `holdMs` after its last successful heartbeat began, by its monotonic clock. One that resumes after a
 *   freeze sees that before it acts (`isHeld`), even before its session reports the loss.
 *
 * Why a successor may act once it has had the lock for `holdMs`: it got the lock when its predecessor's session had ended, at a
 * time E. That session has answered no heartbeat that began after E, so the predecessor starts nothing from E + `holdMs` on. The
 * two clocks need not agree; they need to run equally fast. A predecessor that released the lock had nothing in flight, so its
 * successor need not wait.
 *
 * Limits: a request may be checked and then freeze with its process before all of its bytes are sent. A virtual machine paused
 * together with its clock acts until its session reports the loss, at most a second later. Two PostgreSQL servers that both
 * answer, such as a standby promoted beside its primary, have separate locks.
 *
 * While PostgreSQL is unavailable no process holds the lock: it is lost, and `acquireLock` retries until PostgreSQL is back.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { isUnavailable } from './postgres-errors.ts'

const retryMs = 500

export interface LockOptions<Taken> {
  /** Opens a separate session without time limits and handles its errors, like `Store.connectPostgres`. */
  connect: () => Promise<pg.Client>
  /** Tries to take the lock without waiting. Called again until it returns true. */
  tryLock: (session: pg.Client) => Promise<boolean>
  /** First statements of the session that has taken the lock. */
  take: (session: pg.Client) => Promise<Taken>
  /** Last statements of a process with nothing in flight. Their failure counts as if they had not run. */
  giveBack: (session: pg.Client, taken: Taken) => Promise<unknown>
}

export interface HeldLock<Taken> extends Pick<Heartbeat, 'hold' | 'onLost'> {
  taken: Taken
  /** True while this process holds the lock. It may become true again after a late heartbeat, but not after `onLost`. */
  isHeld(): boolean
  /** Releases the lock. `isQuiet` is false while a request may be in flight. It may be called twice, and after a loss. */
  release(isQuiet?: boolean): Promise<void>
}

/** Resolves when this process has the lock. Rejects on an abort, or with an error that waiting does not fix. */
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
      // The PostgreSQL monitor logs the outage.
      if (!isUnavailable(error)) throw error
      await pause(signal)
    }
  }
}

/** Returns the start of the statement that took the lock. */
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

/** An abort ends the pause. */
async function pause(signal: AbortSignal): Promise<void> {
  await sleep(retryMs, undefined, { signal }).catch(() => undefined)
}

/** Time limit of each statement. A slower heartbeat comes too late. */
const answerMs = 2000
/** PostgreSQL ends a session after this idle time. */
const idleMs = 5000

/** Sets the time limits. `connect` handles the errors of its client, like `Store.connectPostgres`. */
async function openSession(connect: () => Promise<pg.Client>): Promise<pg.Client> {
  const session = await connect()
  try {
    await ask(session, `SET idle_session_timeout = ${idleMs}; SET statement_timeout = ${answerMs}`)
    return session
  } catch (error) {
    endSession(session)
    throw error
  }
}

/** Does not wait: the other side may not answer. */
function endSession(session: pg.Client | undefined): void {
  void session?.end().catch(() => undefined)
}

/** Resolves when the lock is free, or when PostgreSQL does not answer in time. */
async function closeSession(session: pg.Client): Promise<void> {
  await Promise.race([session.end().catch(() => undefined), sleep(answerMs, undefined, { ref: false })])
}

export async function ask<Row extends pg.QueryResultRow>(
  session: pg.Client,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  // PostgreSQL ends a statement itself, but not while it is frozen or when its answer is lost.
  const { rows } = await session.query<Row>({ text, values, query_timeout: answerMs } as pg.QueryConfig)
  return rows
}

/** The time that a process may act after its last successful heartbeat began, and the time that its successor waits. */
export const holdMs = 3000
const heartbeatMs = 1000

interface Heartbeat {
  /** Threads check the hold themselves. */
  hold: Hold
  /** Calls the listener when the lock is lost, or at once if it already is. */
  onLost(listener: (reason: string) => void): void
  /** Ends the heartbeat without reporting a loss. Returns false when it had ended. */
  stop(): boolean
}

/** `beganNs`: start of the last answered statement, by `process.hrtime`. */
function startHeartbeat(session: pg.Client, beganNs: bigint): Heartbeat {
  const hold = new Hold()
  const ended = new AbortController()
  const listeners: ((reason: string) => void)[] = []
  let lostBecause: string | undefined

  function stop(): boolean {
    if (ended.signal.aborted) return false
    ended.abort()
    hold.end()
    return true
  }

  function lose(reason: string): void {
    if (!stop()) return
    lostBecause = reason
    endSession(session)
    for (const listener of listeners) listener(reason)
  }

  async function beat(): Promise<void> {
    const beganNs = process.hrtime.bigint()
    await ask(session, 'SELECT 1')
    if (ended.signal.aborted) return
    hold.extend(untilNs(beganNs))
    const tookMs = Number(process.hrtime.bigint() - beganNs) / 1e6
    await sleep(Math.max(0, heartbeatMs - tookMs), undefined, { signal: ended.signal }).catch(() => undefined)
  }

  async function beatUntilEnded(): Promise<void> {
    try {
      while (!ended.signal.aborted) await beat()
    } catch (error) {
      lose(`PostgreSQL did not answer a heartbeat (${error instanceof Error ? error.message : String(error)})`)
    }
  }

  hold.extend(untilNs(beganNs))
  session.on('end', () => lose('PostgreSQL has ended the session, or the connection is lost'))
  void beatUntilEnded()
  return {
    hold,
    onLost(listener) {
      if (lostBecause === undefined) listeners.push(listener)
      else listener(lostBecause)
    },
    stop,
  }
}

function untilNs(beganNs: bigint): bigint {
  return beganNs + BigInt(holdMs) * 1_000_000n
}

/**
 * The time until which a process may act under a lock, in memory that its threads share: nanoseconds of `process.hrtime`. This
 * monotonic clock is the same in all threads and continues while the process is frozen.
 */
export class Hold {
  /** Pass it to a thread, which creates a Hold from it. */
  readonly shared: BigInt64Array<SharedArrayBuffer>

  constructor(shared = new BigInt64Array(new SharedArrayBuffer(8))) {
    this.shared = shared
  }

  /** Check directly before each request: a freeze may have intervened since an earlier check. */
  isHeld(): boolean {
    return process.hrtime.bigint() < Atomics.load(this.shared, 0)
  }

  extend(untilNs: bigint): void {
    Atomics.store(this.shared, 0, untilNs)
  }

  end(): void {
    Atomics.store(this.shared, 0, 0n)
  }
}
