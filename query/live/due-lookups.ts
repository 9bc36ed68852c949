/** Devices that wait to be looked up, until QuestDB has applied the readings that caused it. */

/** Numbers of readings since the beginning of the journal: accepted ones, and ones that QuestDB has applied. */
export interface Ordinals {
  readonly taken: number
  readonly applied: number
}

export interface DueLookupsOptions {
  readonly ordinals: () => Ordinals
  /** Undefined for a removed device. */
  readonly isDue: (deviceNumber: number) => boolean | undefined
}

export class DueLookups {
  readonly #options: DueLookupsOptions
  readonly #wanted = new Set<number>()
  /**
   * Device number and the accepted ordinal that must be applied first: late readings reach QuestDB behind newer ones.
   */
  readonly #waiting = new Map<number, number>()

  constructor(options: DueLookupsOptions) {
    this.#options = options
  }

  want(number: number): void {
    this.#wanted.add(number)
  }

  /** Removes and returns the devices that may be looked up now. */
  take(): number[] {
    const { ordinals, isDue } = this.#options
    const { taken, applied } = ordinals()
    for (const number of this.#wanted) this.#waiting.set(number, taken)
    this.#wanted.clear()
    const due: number[] = []
    for (const [number, takenBy] of this.#waiting) {
      const isDueNow = isDue(number)
      if (isDueNow !== undefined && !(isDueNow && takenBy <= applied)) continue
      this.#waiting.delete(number)
      if (isDueNow === true) due.push(number)
    }
    return due
  }
}
