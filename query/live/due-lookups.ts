/** The devices that wait to be looked up in QuestDB, until it has the readings for which they are. */

/** Readings, counted from the beginning of the journal: those that were taken, and those that QuestDB has applied. */
export interface Ordinals {
  readonly taken: number
  readonly applied: number
}

export interface DueLookupsOptions {
  readonly ordinals: () => Ordinals
  /** Undefined for a device that is not there any more. */
  readonly isDue: (deviceNumber: number) => boolean | undefined
}

export class DueLookups {
  readonly #options: DueLookupsOptions
  readonly #wanted = new Set<number>()
  /** With what was taken by then, which has to be applied: late readings reach QuestDB behind newer ones. */
  readonly #waiting = new Map<number, number>()

  constructor(options: DueLookupsOptions) {
    this.#options = options
  }

  want(number: number): void {
    this.#wanted.add(number)
  }

  /** Those that may be looked up now; the others go on waiting. */
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
