/**
 * Clock, timers and random source of the journal and the forwarder. Injected, so that a test can run hours in virtual time and
 * repeat them from a seed.
 */

export interface Timing {
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number
  /** Runs the work after the delay. The result cancels it. */
  after: (ms: number, work: () => void) => () => void
  /** Below 1. */
  random: () => number
}

export const systemTiming: Timing = {
  monotonicMs: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
}
