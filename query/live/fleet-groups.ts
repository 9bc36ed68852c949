/** The devices of the fleet by their tags of one key, counted by state. */

import { type FleetGroups, groupsMax } from './fleet-shape.ts'
import type { LiveFleet } from './live-fleet.ts'
import { liveStates, namedCounts } from './live-state.ts'
import type { FleetOrder } from './name-order.ts'
import { walk } from './walk.ts'

export async function groupsOf(
  fleet: LiveFleet,
  order: FleetOrder,
  key: string,
  signal: AbortSignal,
): Promise<Omit<FleetGroups, 'generated_at'>> {
  const byTag = new Map<string | undefined, Int32Array>()
  const prefix = `${key}:`
  await walk(fleet, order, undefined, slots => count(fleet, slots, prefix, byTag), signal)
  const untagged = byTag.get(undefined) ?? noCounts()
  byTag.delete(undefined)
  const bySize = ([...byTag] as [string, Int32Array][]).sort(([, a], [, b]) => sum(b) - sum(a))
  const listed = bySize.slice(0, groupsMax).sort(([a], [b]) => (a < b ? -1 : 1))
  const others = noCounts()
  for (const [, counts] of bySize.slice(groupsMax)) {
    for (const [state, more] of counts.entries()) add(others, state, more)
  }
  return {
    key,
    groups: listed.map(([tag, counts]) => ({ tag, counts: namedCounts(counts) })),
    groups_total: byTag.size,
    others: namedCounts(others),
    untagged: namedCounts(untagged),
  }
}

function count(
  fleet: LiveFleet,
  slots: readonly number[],
  prefix: string,
  byTag: Map<string | undefined, Int32Array>,
): void {
  const { states } = fleet.columns()
  for (const slot of slots) {
    const tag = fleet.device(slot)?.tags.find(one => one.startsWith(prefix))
    let counts = byTag.get(tag)
    if (counts === undefined) {
      counts = noCounts()
      byTag.set(tag, counts)
    }
    add(counts, states[slot] as number, 1)
  }
}

const noCounts = () => new Int32Array(liveStates.length)
const sum = (counts: Int32Array) => counts.reduce((total, one) => total + one, 0)

function add(counts: Int32Array, state: number, more: number): void {
  ;(counts[state] as number) += more
}
