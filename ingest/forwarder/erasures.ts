/** Has the forwarder's thread pass over the records of erased series. */

import type { ForwarderCommand } from './forwarder-messages.ts'

export interface Erasures {
  /** Resolves when the thread is done with it. */
  erase(seriesNumbers: readonly number[], before: number): Promise<void>
  /** The forwarder's thread is done with this one. */
  erased(id: number): void
}

export function createErasures(command: (message: ForwarderCommand) => void): Erasures {
  /** Resolvers of the pending calls; erase jobs run one after the other, so they are few. */
  const waiting = new Map<number, () => void>()
  let nextId = 0
  return {
    erase(seriesNumbers, before) {
      const id = nextId++
      const erased = new Promise<void>(resolve => waiting.set(id, resolve))
      command({ kind: 'erase', id, seriesNumbers: [...seriesNumbers], before })
      return erased
    },
    erased(id) {
      waiting.get(id)?.()
      waiting.delete(id)
    },
  }
}
