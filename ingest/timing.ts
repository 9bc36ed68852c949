/**
 * What the forwarder takes from the world beside its disk and its connections: time that passes, and dice. Handed in, so
 * that a test can run a history of hours in a moment and repeat it from its seed.
 */

export interface Timing {
  /** Milliseconds of a clock that never goes back. */
  monotonicMs: () => number
  /** Runs the work after a while; the result calls it off. */
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
