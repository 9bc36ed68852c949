/** Has the forwarder's thread send nothing for a while. */

import type { ForwarderCommand } from './forwarder-messages.ts'

export interface Holds {
  hold(): Promise<void>
  release(): void
  /** The forwarder's thread holds. */
  held(): void
}

export function createHolds(command: (message: ForwarderCommand) => void): Holds {
  let onHeld: () => void = () => undefined
  return {
    hold() {
      const held = new Promise<void>(resolve => {
        onHeld = resolve
      })
      command({ kind: 'hold' })
      return held
    },
    release: () => command({ kind: 'release' }),
    held: () => onHeld(),
  }
}
