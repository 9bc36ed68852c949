/** Runs requested work at the leading node and retries it until it succeeds. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../store/log.ts'

export interface EraseLoopOptions {
  leads: () => boolean
  /** Called once at a time. */
  work: () => Promise<void>
  signal: AbortSignal
  log: Log
}

export interface EraseLoop {
  /** Requests work at this node, or at its successor as the leader. */
  ask(): void
  ended(): Promise<void>
}

export class NotLeading extends Error {}

const retryMsMin = 1_000
const retryMsMax = 60_000
/** Interval at which a node checks whether it leads. */
const leadsEveryMs = 500

export function createEraseLoop({ leads, work, signal, log }: EraseLoopOptions): EraseLoop {
  let running: Promise<void> | undefined
  /** True if work was requested while the last call ended. */
  let isAsked = false
  let retryMs = retryMsMin

  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)

  async function tryWork(): Promise<void> {
    isAsked = false
    try {
      await work()
      retryMs = retryMsMin
    } catch (error) {
      isAsked = true
      if (signal.aborted || error instanceof NotLeading) return
      log.warn({ err: error }, 'erase job failed, retrying')
      await pause(retryMs)
      retryMs = Math.min(retryMs * 2, retryMsMax)
    }
  }

  async function run(): Promise<void> {
    while (isAsked && !signal.aborted) {
      if (leads()) await tryWork()
      else await pause(leadsEveryMs)
    }
  }

  function ask(): void {
    isAsked = true
    running ??= run().finally(() => {
      running = undefined
      if (isAsked && !signal.aborted) ask()
    })
  }

  return {
    ask,
    ended: async () => await running,
  }
}
