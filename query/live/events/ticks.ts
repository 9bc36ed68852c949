/** Runs some work soon after it is wanted, one run at a time: what comes meanwhile is done together. */

export interface TicksOptions {
  readonly tickMs: number
  /** Resolves with the time until more is to be done, milliseconds; undefined until it is wanted again. */
  readonly work: () => Promise<number | undefined>
  /** What the work throws. */
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
