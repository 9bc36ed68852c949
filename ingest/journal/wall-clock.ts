/** The system's clock with microseconds, and the steps that it makes. */

export interface WallClock {
  /** Epoch microseconds. Follows the system's clock wherever that goes. */
  nowUs(): number
  /** How often the system's clock was set since the start, by more than `clockStepUs`. */
  steps(): number
}

export interface WallClockOptions {
  /** Epoch milliseconds. */
  nowMs: () => number
  monotonicMs?: () => number
  /** Called with how far the clock was set, forward or back. */
  onStep?: (byUs: number) => void
}

/** A clock that is corrected by less than this was not set. */
export const clockStepUs = 1_000_000
/** Further apart, milliseconds and the monotonic clock are brought together again. */
const driftUsMax = 2000

/** The milliseconds of the system's clock, moved on by the monotonic clock. */
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
