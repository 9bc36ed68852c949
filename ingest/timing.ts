/**
 * Clock, timers and random source of the journal and the forwarder. Injected, so that a test can run hours in virtual time and
 * repeat them from a seed.
 */

export interface Timing {
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number
  /** Runs the work after the delay. The result cancels it. */
  after: (ms: number, work: () => void) => () => void
  /** The number is below 1. */
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

/** Sleeps that end at once when their owner stops. */
export class Sleeper {
  readonly #timing: Timing
  readonly #wakers = new Set<() => void>()
  readonly #idle = new Set<() => void>()
  #stopped = false

  constructor(timing: Timing) {
    this.#timing = timing
  }

  get stopped(): boolean {
    return this.#stopped
  }

  sleep(ms: number): Promise<void> {
    return this.#sleep(ms, () => undefined)
  }

  /** Also ends at a call of `wake`, and when the promise resolves. */
  idle(ms: number, work?: Promise<unknown>): Promise<void> {
    return this.#sleep(ms, wake => {
      this.#idle.add(wake)
      void work?.then(wake, wake)
    })
  }

  /** Ends the present idle sleeps: there may be work. */
  wake(): void {
    for (const wake of this.#idle) wake()
  }

  #sleep(ms: number, begin: (wake: () => void) => void): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    return new Promise(resolve => {
      const wake = () => {
        cancel()
        this.#wakers.delete(wake)
        this.#idle.delete(wake)
        resolve()
      }
      const cancel = this.#timing.after(ms, wake)
      this.#wakers.add(wake)
      begin(wake)
    })
  }

  /** Ends all present and future sleeps. */
  stop(): void {
    this.#stopped = true
    for (const wake of this.#wakers) wake()
  }
}
