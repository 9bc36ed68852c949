/** Elects a leader among nodes by a lease in PostgreSQL. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { acquireLock, ask, type HeldLock, holdMs, type LockOptions } from '../../store/postgres/held-lock.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'

/** A node that freezes while it holds locks loses them before the leases of others end. */
export const idleMsMaxOf = (leaseMs: number): number => Math.min(1_000, Math.round(leaseMs / 3))

/** Ends by the monotonic or the wall clock. The monotonic clock stops while a machine is suspended. */
export class Lease {
  readonly #lengthMs: number
  readonly #wallMs: () => number
  #endMs = Number.NEGATIVE_INFINITY
  #endWallMs = Number.NEGATIVE_INFINITY
  #term = 0

  constructor(lengthMs: number, wallMs: () => number = Date.now) {
    this.#lengthMs = lengthMs
    this.#wallMs = wallMs
  }

  isValid(): boolean {
    return this.leftMs() > 0
  }

  /** Remaining validity; at most 0 without a valid lease. */
  leftMs(): number {
    return Math.min(this.#endMs - performance.now(), this.#endWallMs - this.#wallMs())
  }

  /** Increases at a renewal after an invalid time: credentials of an earlier term may have been revoked since. */
  term(): number {
    return this.#term
  }

  /** Call it before the query to PostgreSQL, and its result after the answer. */
  begin(): () => void {
    const [startMs, startWallMs] = [performance.now(), this.#wallMs()]
    return () => {
      if (!this.isValid()) this.#term++
      this.#endMs = startMs + this.#lengthMs
      this.#endWallMs = startWallMs + this.#lengthMs
    }
  }

  /** Time since the renewal; infinite without one. */
  ageMs(): number {
    return performance.now() + this.#lengthMs - this.#endMs
  }

  end(): void {
    this.#endMs = Number.NEGATIVE_INFINITY
  }
}

// An arbitrary fixed number: "barolead" in ASCII.
const leaderLock = '7089073111343391076'
/** A new leader takes it exclusively. The leader's transactions share it until they end. The number is "barofenc". */
const fenceLock = '7089073111242731107'

async function tryLeaderLock(session: pg.Client): Promise<boolean> {
  const [row] = await ask<{ got: boolean }>(session, `SELECT pg_try_advisory_lock(${leaderLock}) AS got`)
  return row?.got === true
}

/** Call it in the session that has the lock. True if the previous leader may have work in progress. */
async function takeLead(session: pg.Client, id: string): Promise<boolean> {
  const rows = await ask<{ was_leading: boolean }>(
    session,
    `WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock(${fenceLock}))
     UPDATE nodes SET leads_since = CASE WHEN id = $1 THEN clock_timestamp() END
     FROM (SELECT id AS node, leads_since IS NOT NULL AS was_leading FROM nodes) AS before, fence
     WHERE node = id AND (id = $1 OR was_leading) RETURNING was_leading`,
    [id],
  )
  return rows.some(row => row.was_leading)
}

async function leaveLead(session: pg.Client, id: string): Promise<void> {
  await ask(session, 'UPDATE nodes SET leads_since = NULL WHERE id = $1', [id])
}

/** Blocks a change of leader until the transaction ends. Rejects after such a change. */
export async function requireLead(transaction: Transaction, id: string): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock_shared(${fenceLock})`)
  const { rowCount } = await transaction.query('SELECT FROM nodes WHERE id = $1 AND leads_since IS NOT NULL', [id])
  if (rowCount !== 1) throw new Error('another node leads')
}

interface Leadership {
  leads(): boolean
  /** Call it after the node has a lease. */
  start(): void
  /** The leader's work must have ended before. */
  close(): Promise<void>
}

interface LeadershipOptions {
  id: string
  connect: () => Promise<pg.Client>
  lease: Pick<Lease, 'isValid'>
  log: Pick<Log, 'info' | 'warn'>
}

/** Interval of checking the lease: a node that has lost it releases the lead. */
const checkMs = 1000
const retryMs = 5000

export function createLeadership({ id, connect, lease, log }: LeadershipOptions): Leadership {
  const closing = new AbortController()
  const { signal } = closing
  let leading: Pick<HeldLock<unknown>, 'isHeld'> | undefined
  let running: Promise<void> = Promise.resolve()
  const lock: LockOptions<boolean> = {
    connect,
    tryLock: tryLeaderLock,
    take: session => takeLead(session, id),
    giveBack: session => leaveLead(session, id),
  }

  /** Leads until the lock or the lease is lost, or this node closes. */
  async function lead(): Promise<void> {
    const held = await acquireLock(lock, signal)
    const lost = new AbortController()
    held.onLost(() => lost.abort())
    const ending = AbortSignal.any([signal, lost.signal])
    if (held.taken) await pause(holdMs, ending)
    if (!ending.aborted) log.info({}, 'this node leads')
    leading = held
    while (!ending.aborted && lease.isValid()) await pause(checkMs, ending)
    leading = undefined
    if (!signal.aborted) log.warn({}, 'this node no longer leads')
    await held.release(signal.aborted)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (lease.isValid()) await lead()
        else await pause(checkMs, signal)
      } catch (error) {
        if (signal.aborted) return
        log.warn({ err: error }, 'this node cannot try to lead, retrying')
        await pause(retryMs, signal)
      }
    }
  }

  return {
    leads: () => leading?.isHeld() === true && lease.isValid(),
    start() {
      running = run()
    },
    async close() {
      closing.abort()
      await running
    },
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)
}
