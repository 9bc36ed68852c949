/** The devices that wait to be looked up in QuestDB, until it has the readings for which they are. */

/** Readings of a shard, counted from the beginning of its journal: those that were taken, and those that QuestDB has applied. */
export interface Ordinals {
  readonly taken: number
  readonly applied: number
}

export interface DueLookupsOptions {
  /** The shards that have readings of a device, by its number; from 1 on. */
  readonly shardsOf: (deviceNumber: number) => readonly number[]
  /** Of each shard, the first one first. */
  readonly ordinals: () => readonly Ordinals[]
  /** Undefined for a device that is not there any more. */
  readonly isDue: (deviceNumber: number) => boolean | undefined
}

export class DueLookups {
  readonly #options: DueLookupsOptions
  readonly #wanted = new Set<number>()
  /** With what each shard had taken, which has to be applied: late readings reach QuestDB behind newer ones. */
  readonly #waiting = new Map<number, readonly Ordinals[]>()

  constructor(options: DueLookupsOptions) {
    this.#options = options
  }

  want(number: number): void {
    this.#wanted.add(number)
  }

  /** Those that may be looked up now, by the names of their shards, without the ones of shards that are busy; the others go on waiting. */
  take(isBusy: (shards: string) => boolean): Map<string, number[]> {
    const { shardsOf, ordinals, isDue } = this.#options
    const now = ordinals()
    for (const number of this.#wanted) this.#waiting.set(number, now)
    this.#wanted.clear()
    const due = new Map<string, number[]>()
    for (const [number, taken] of this.#waiting) {
      const isDueNow = isDue(number)
      if (isDueNow === undefined) this.#waiting.delete(number)
      if (isDueNow !== true) continue
      const shards = shardsOf(number)
      const name = shards.join()
      if (isBusy(name) || !shards.every(shard => isApplied(shard, taken, now))) continue
      this.#waiting.delete(number)
      const others = due.get(name)
      if (others === undefined) due.set(name, [number])
      else others.push(number)
    }
    return due
  }
}

function isApplied(shard: number, taken: readonly Ordinals[], now: readonly Ordinals[]): boolean {
  // Of a shard that this process does not know the query says so.
  return (taken[shard - 1]?.taken ?? 0) <= (now[shard - 1]?.applied ?? 0)
}
