/**
 * Elects one node for the work that is done once for all nodes. The leader holds a lock (store/postgres/held-lock) and
 * a valid lease, so that it has all changes of others.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { acquireLock, type HeldLock, holdMs, type LockOptions } from '../../store/postgres/held-lock.ts'
import { leaveLead, takeLead, tryLeaderLock } from './leader-rows.ts'
import type { Lease } from './lease.ts'

export interface Leadership {
  leads(): boolean
  /** Call it after the node has a lease. */
  start(): void
  /** The leader's work must have ended before. */
  close(): Promise<void>
}

export interface LeadershipOptions {
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
