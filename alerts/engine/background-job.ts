/** Work that goes on beside all else, one at a time. */

export class BackgroundJob {
  #running: Promise<void> | undefined

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** It does not reject. */
  start(work: () => Promise<void>): void {
    this.#running = work().finally(() => {
      this.#running = undefined
    })
  }

  async ended(): Promise<void> {
    await this.#running
  }
}
