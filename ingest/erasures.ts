/** Has the journal and the forwarder's thread pass over the records of erased series. */

import type { ForwarderCommand } from './forwarder/forwarder-thread.ts'
import type { Journal } from './journal/journal.ts'

export interface Erasures {
  erase(seriesNumbers: readonly number[]): Promise<number>
  /** The forwarder's thread is done with this one. */
  erased(id: number): void
}

export function createErasures(
  journal: Pick<Journal<never, never>, 'endSeries'>,
  command: (message: ForwarderCommand) => void,
): Erasures {
  /** Resolvers of the pending calls; erase jobs run one after the other, so they are few. */
  const waiting = new Map<number, () => void>()
  let nextId = 0
  return {
    async erase(seriesNumbers) {
      const before = await journal.endSeries(seriesNumbers)
      const id = nextId++
      const erased = new Promise<void>(resolve => waiting.set(id, resolve))
      command({ kind: 'erase', id, seriesNumbers: [...seriesNumbers], before })
      await erased
      return before
    },
    erased(id) {
      waiting.get(id)?.()
      waiting.delete(id)
    },
  }
}
