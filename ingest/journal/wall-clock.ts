/** The system's clock with microseconds, and its steps. */

import type { Log } from '../../store/log.ts'

export interface WallClock {
  /** Epoch microseconds. Follows every change of the system's clock. */
  nowUs(): number
  /** Number of clock steps since the start, beyond `clockStepUs`. */
  steps(): number
}

interface WallClockOptions {
  /** Epoch milliseconds. */
  nowMs: () => number
  monotonicMs?: () => number
  /** Called with the size of the step, forward or back. */
  onStep?: (byUs: number) => void
}

/** A smaller correction of the clock is not a step. */
export const clockStepUs = 1_000_000
/** Beyond this difference, milliseconds and the monotonic clock are aligned again. */
const driftUsMax = 2000

/** The milliseconds of the system's clock, interpolated by the monotonic clock. */
export function createWallClock({
  nowMs,
  monotonicMs = () => performance.now(),
  onStep = () => undefined,
}: WallClockOptions): WallClock {
  let baseUs = nowMs() * 1000
  let baseMonotonicMs = monotonicMs()
  let steps = 0

  function nowUs(): number {
    const wallUs = nowMs() * 1000
    const elapsedMs = monotonicMs()
    const timeUs = baseUs + (elapsedMs - baseMonotonicMs) * 1000
    const byUs = wallUs - timeUs
    if (Math.abs(byUs) <= driftUsMax) return Math.floor(timeUs)
    baseUs = wallUs
    baseMonotonicMs = elapsedMs
    if (Math.abs(byUs) > clockStepUs) {
      steps++
      onStep(byUs)
    }
    return wallUs
  }

  return { nowUs, steps: () => steps }
}

interface ClockWatch {
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
