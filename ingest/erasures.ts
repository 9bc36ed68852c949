/** Has the journal and the forwarder's thread pass over what erased devices have sent. */

import type { ForwarderCommand } from './forwarder/forwarder-thread.ts'
import type { Journal } from './journal/journal.ts'

export interface Erasures {
  erase(deviceNumbers: readonly number[]): Promise<number>
  /** The forwarder's thread is done with this one. */
  erased(id: number): void
}

export function createErasures(
  journal: Pick<Journal, 'endDevices'>,
  command: (message: ForwarderCommand) => void,
): Erasures {
  /** What each call under way waits for; erase jobs run one after the other, so they are few. */
  const waiting = new Map<number, () => void>()
  let nextId = 0
  return {
    async erase(deviceNumbers) {
      const before = await journal.endDevices(deviceNumbers)
      const id = nextId++
      const erased = new Promise<void>(resolve => waiting.set(id, resolve))
      command({ kind: 'erase', id, deviceNumbers: [...deviceNumbers], before })
      await erased
      return before
    },
    erased(id) {
      waiting.get(id)?.()
      waiting.delete(id)
    },
  }
}
