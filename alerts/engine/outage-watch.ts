/** Notices when readings may not have come in for reasons of our own, and when our clock was set. */

export interface OutageWatchOptions {
  readonly nowMs: () => number
  /** Reads a monotonic clock. */
  readonly monotonicMs: () => number
  /** Why no readings are taken, or that they are not known here. */
  readonly isOut: () => boolean
}

export interface OutageLook {
  /** One goes on. */
  readonly isOut: boolean
  /** We did nothing for a while, up to now. */
  readonly hasPaused: boolean
  /** By how much the clock was set since the last look; 0 where it was not. */
  readonly steppedMs: number
  /** When the last look was, by the clock as it is now. */
  readonly beforeMs: number
}

/** Clocks that are kept right by small steps differ by less. */
const stepMsMin = 1000
const pauseMsMin = 5000

/** To be asked several times a second. */
export function createOutageWatch(options: OutageWatchOptions): { look(): OutageLook } {
  const { nowMs, monotonicMs, isOut } = options
  let lastMs = nowMs()
  let lastMonotonicMs = monotonicMs()
  return {
    look() {
      const passedMs = monotonicMs() - lastMonotonicMs
      const atMs = nowMs()
      const steppedMs = atMs - lastMs - passedMs
      lastMs = atMs
      lastMonotonicMs += passedMs
      const hasPaused = passedMs >= pauseMsMin
      const isStepped = Math.abs(steppedMs) > stepMsMin
      return { isOut: isOut(), hasPaused, steppedMs: isStepped ? steppedMs : 0, beforeMs: atMs - passedMs }
    },
  }
}
