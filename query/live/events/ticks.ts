/** Runs work soon after it is requested, one run at a time. Requests meanwhile are merged into one run. */

export interface TicksOptions {
  readonly tickMs: number
  /** Resolves with the milliseconds until the next run; undefined to wait for a request. */
  readonly work: () => Promise<number | undefined>
  /** Receives errors of the work. */
  readonly failed: (error: unknown) => void
}

export class Ticks {
  readonly #options: TicksOptions
  #isScheduled = false
  #isRunning = false
  #runsAgain = false
  #isClosed = false

  constructor(options: TicksOptions) {
    this.#options = options
  }

  wake(delayMs = this.#options.tickMs): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      if (this.#isRunning) this.#runsAgain = true
      else void this.#run()
    }, delayMs).unref()
  }

  close(): void {
    this.#isClosed = true
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    this.#runsAgain = false
    try {
      const nextMs = await this.#options.work()
      if (nextMs !== undefined) this.wake(nextMs)
      else if (this.#runsAgain) this.wake()
    } catch (error) {
      this.#options.failed(error)
    } finally {
      this.#isRunning = false
    }
  }
}
