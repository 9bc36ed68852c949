/** Sleeps that end at once when their owner stops. */

import type { Timing } from '../timing.ts'

export class Sleeper {
  readonly #timing: Timing
  readonly #wakers = new Set<() => void>()
  #stopped = false

  constructor(timing: Timing) {
    this.#timing = timing
  }

  get stopped(): boolean {
    return this.#stopped
  }

  sleep(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    return new Promise(resolve => {
      const wake = () => {
        cancel()
        this.#wakers.delete(wake)
        resolve()
      }
      const cancel = this.#timing.after(ms, wake)
      this.#wakers.add(wake)
    })
  }

  /** Ends all present and future sleeps. */
  stop(): void {
    this.#stopped = true
    for (const wake of this.#wakers) wake()
  }
}
