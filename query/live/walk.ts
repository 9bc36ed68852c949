/** Visits all devices of the fleet in the order of their names, some thousands a turn. */

import { setImmediate as turn } from 'node:timers/promises'
import type { LiveFleet } from './live-fleet.ts'
import type { FleetOrder } from './name-order.ts'

/** Devices of one turn, which takes a fraction of a millisecond. */
const devicesPerTurn = 4096

/** `visit` gets the devices behind `after`, or all. A later turn may reuse slots. */
export async function walk(
  fleet: LiveFleet,
  order: FleetOrder,
  after: string | undefined,
  visit: (slots: readonly number[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let passed = after
  for (let isDone = false; !isDone; ) {
    let visited = 0
    isDone = true
    for (const { block, from } of order.blocksAfter(passed)) {
      visit(block.slots.slice(from))
      passed = fleet.order.nameOf(block.slots.at(-1) as number)
      visited += block.slots.length
      if (visited < devicesPerTurn) continue
      isDone = false
      break
    }
    if (!isDone) await turn(undefined, { signal })
  }
}
