/** Watches the clock of the write paths. Timestamps of readings follow it, so its steps are logged even without readings. */

import type { Log } from '../store/log.ts'
import { createWallClock, type WallClock } from './journal/wall-clock.ts'

export interface ClockWatch {
  clock: WallClock
  close(): void
}

const clockWatchMs = 500

/** `nowMs` is the system's clock in epoch milliseconds, which may be set. */
export function watchClock(nowMs: () => number, log: Log): ClockWatch {
  const clock = createWallClock({
    nowMs,
    onStep(byUs) {
      const seconds = Math.round(byUs / 1000) / 1000
      log.warn({ seconds }, `clock stepped ${seconds > 0 ? 'forward' : 'back'}`)
    },
  })
  const timer = setInterval(clock.nowUs, clockWatchMs).unref()
  return { clock, close: () => clearInterval(timer) }
}
