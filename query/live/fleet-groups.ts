/** The devices of the fleet by their tags of one key, counted by state. */

import type { DeviceState } from './device-state.ts'
import { type FleetOrder, walk } from './fleet-order.ts'
import { type FleetGroups, groupsMax } from './fleet-shape.ts'
import { type LiveCounts, liveStates, noCounts } from './live-state.ts'

export async function groupsOf(
  order: FleetOrder,
  key: string,
  signal: AbortSignal,
): Promise<Omit<FleetGroups, 'generated_at'>> {
  const byTag = new Map<string | undefined, ReturnType<typeof noCounts>>()
  const prefix = `${key}:`
  const count = ({ device, state }: DeviceState) => {
    const tag = device.tags.find(one => one.startsWith(prefix))
    const counts = byTag.get(tag) ?? noCounts()
    counts[state]++
    byTag.set(tag, counts)
  }
  await walk(order, undefined, devices => devices.forEach(count), signal)
  const untagged = byTag.get(undefined) ?? noCounts()
  byTag.delete(undefined)
  const bySize = ([...byTag] as [string, LiveCounts][]).sort(([, a], [, b]) => sum(b) - sum(a))
  const listed = bySize.slice(0, groupsMax).sort(([a], [b]) => (a < b ? -1 : 1))
  const others = noCounts()
  for (const [, counts] of bySize.slice(groupsMax)) for (const state of liveStates) others[state] += counts[state]
  return { key, groups: listed.map(([tag, counts]) => ({ tag, counts })), groups_total: byTag.size, others, untagged }
}

function sum(counts: LiveCounts): number {
  return liveStates.reduce((total, state) => total + counts[state], 0)
}
