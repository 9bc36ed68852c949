/** Makes the forwarder skip records that tombstones erase, and confirms in PostgreSQL that they are not sent any more. */

import type { ReplicaState, Tombstone } from '../state/state.ts'

type TombstoneState = Pick<ReplicaState, 'unconfirmedTombstones' | 'confirmTombstones'>

export class TombstoneWork {
  readonly #topic: string
  readonly #state: TombstoneState
  /** Offsets by series that the forwarder is erasing, or has erased without a confirmation. */
  readonly #given = new Map<number, number>()
  #done: Tombstone[] = []

  constructor(topic: string, state: TombstoneState) {
    this.#topic = topic
    this.#state = state
  }

  /** The forwarder has restarted. */
  restart(): void {
    this.#given.clear()
    this.#done = []
  }

  /** `erase` resolves when no record of the series before the offset is in flight or can follow. Throws errors of PostgreSQL. */
  async work(erase: (series: readonly number[], before: number) => Promise<unknown>): Promise<void> {
    await this.#confirm()
    const tombstones = await this.#state.unconfirmedTombstones(this.#topic)
    for (const [before, series] of byOffset(tombstones.filter(tombstone => !this.#isGiven(tombstone)))) {
      for (const number of series) this.#given.set(number, before)
      const done = this.#done
      // Never rejects. If the forwarder is stopped first, nothing is confirmed.
      void erase(series, before).then(() => {
        for (const number of series) done.push([number, before])
      })
    }
  }

  #isGiven([series, before]: Tombstone): boolean {
    return (this.#given.get(series) ?? -1) >= before
  }

  async #confirm(): Promise<void> {
    if (this.#done.length === 0) return
    const done = [...this.#done]
    await this.#state.confirmTombstones(this.#topic, done)
    this.#done.splice(0, done.length)
    for (const [series, before] of done) if (this.#given.get(series) === before) this.#given.delete(series)
  }
}

function byOffset(tombstones: readonly Tombstone[]): Map<number, number[]> {
  const found = new Map<number, number[]>()
  for (const [number, before] of tombstones) {
    const series = found.get(before)
    if (series === undefined) found.set(before, [number])
    else series.push(number)
  }
  return found
}
