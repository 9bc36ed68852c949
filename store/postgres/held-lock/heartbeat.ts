/** The heartbeat of the session that holds a lock. It determines how long this process may act, and when the lock is lost. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Hold } from './hold.ts'
import { ask, endSession } from './lock-session.ts'

/** How long a process may act after its last successful heartbeat began, and how long its successor waits. */
export const holdMs = 3000
const heartbeatMs = 1000

export interface Heartbeat {
  /** For threads, which check it themselves. */
  hold: Hold
  /** Calls the listener when the lock is lost, or at once if it already is. */
  onLost(listener: (reason: string) => void): void
  /** Ends the heartbeat without reporting a loss. Returns false when it had ended. */
  stop(): boolean
}

/** `beganNs`: start of the last answered statement, by `process.hrtime`. */
export function startHeartbeat(session: pg.Client, beganNs: bigint): Heartbeat {
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
