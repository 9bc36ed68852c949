/** Removes keys that have expired, a few at a time. Nothing depends on when that happens, but the room for new ones. */

import type { Log } from '../../store/log.ts'

export interface SweepOptions {
  /** Whether this process does it. */
  leads: () => boolean
  /** Removes at most so many rows, and returns how many these were. */
  removeExpired: (countMax: number) => Promise<number>
  intervalMs: number
  removedPerStatement: number
  log: Log
}

export function createSweep(options: SweepOptions): { close(): Promise<void> } {
  const { leads, removeExpired, intervalMs, removedPerStatement, log } = options
  let running: Promise<void> = Promise.resolve()
  let isClosing = false

  async function removeAll(): Promise<void> {
    for (let isDone = false; !isDone && !isClosing && leads(); ) {
      const removed = await removeExpired(removedPerStatement)
      isDone = removed < removedPerStatement
    }
  }

  const timer = setInterval(() => {
    running = removeAll().catch((error: unknown) => {
      log.warn({ err: error }, 'expired idempotency keys could not be removed; the next run tries again')
    })
  }, intervalMs)
  timer.unref()
  return {
    async close() {
      isClosing = true
      clearInterval(timer)
      await running
    },
  }
}
