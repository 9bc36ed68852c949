/** Removes keys that have expired, a few at a time. Nothing depends on when that happens, but the room for new ones. */

import type { Log } from '../../store/log.ts'
import type { Counts } from './counts.ts'

export interface SweepOptions {
  /** Removes at most so many rows, and returns the writer of each. */
  removeExpired: (countMax: number) => Promise<string[]>
  counts: Pick<Counts, 'add' | 'forget'>
  intervalMs: number
  removedPerStatement: number
  log: Log
}

export function createSweep(options: SweepOptions): { close(): Promise<void> } {
  const { removeExpired, counts, intervalMs, removedPerStatement, log } = options
  let running: Promise<void> = Promise.resolve()
  let isClosing = false

  async function removeAll(): Promise<void> {
    for (let isDone = false; !isDone && !isClosing; ) {
      const removed = await removeExpired(removedPerStatement)
      for (const writer of removed) counts.add(writer, -1)
      isDone = removed.length < removedPerStatement
    }
  }

  const timer = setInterval(() => {
    running = removeAll().catch((error: unknown) => {
      counts.forget()
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
