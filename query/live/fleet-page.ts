/** A page of the fleet, sorted by state (worst first) and name or by name alone; and a search through all names. */

import type { DeviceState } from './device-state.ts'
import { type FleetOrder, walk } from './fleet-order.ts'
import type { LiveFleet } from './live-fleet.ts'
import { type LiveState, liveStates } from './live-state.ts'

export interface FleetPlace {
  /** Undefined in the order of names. */
  readonly state: LiveState | undefined
  readonly name: string
}

export interface FleetPageRequest {
  /** Devices must have one of these states. */
  readonly states: readonly LiveState[]
  readonly order: 'state' | 'name'
  /** The last device of the previous page; undefined for the first page. */
  readonly after: FleetPlace | undefined
  readonly limit: number
}

export interface FoundPage {
  readonly devices: readonly DeviceState[]
  readonly hasMore: boolean
}

export function pageOf(order: FleetOrder, request: FleetPageRequest): FoundPage {
  const { limit } = request
  const devices: DeviceState[] = []
  for (const device of matches(order, stepsOf(request))) {
    if (devices.length === limit) return { devices, hasMore: true }
    devices.push(device)
  }
  return { devices, hasMore: false }
}

function* matches(order: FleetOrder, steps: readonly Step[]): Generator<DeviceState> {
  for (const { states, after } of steps) {
    for (const { block, from } of order.blocksAfter(after)) {
      if (!states.some(state => block.counts[state] > 0)) continue
      for (const device of block.devices.slice(from)) if (states.includes(device.state)) yield device
    }
  }
}

interface Step {
  readonly states: readonly LiveState[]
  readonly after: string | undefined
}

/** The state filter and the start of each walk over the names. */
function stepsOf({ states, order, after }: FleetPageRequest): Step[] {
  if (order === 'name') return [{ states, after: after?.name }]
  const first = after?.state
  return liveStates
    .slice(first === undefined ? 0 : liveStates.indexOf(first))
    .filter(state => states.includes(state))
    .map(state => ({ states: [state], after: state === first ? after?.name : undefined }))
}

/**
 * A page of the devices whose name or place contains the text, case-insensitive. It scans all names once. A device
 * that changes its state meanwhile stays where the scan found it.
 */
export async function searchPage(
  fleet: LiveFleet,
  order: FleetOrder,
  request: FleetPageRequest,
  search: string,
  signal: AbortSignal,
): Promise<FoundPage> {
  const { after, limit } = request
  const text = search.normalize('NFC').toLowerCase()
  const found = stepsOf(request).map(step => ({ ...step, devices: [] as DeviceState[] }))
  const stepOf = new Map(found.flatMap(step => step.states.map(state => [state, step] as const)))
  const collect = (devices: readonly DeviceState[]) => {
    for (const one of devices) {
      const step = stepOf.get(one.state)
      if (step === undefined || step.devices.length > limit || !one.text.includes(text)) continue
      if (step.after === undefined || one.device.name > step.after) step.devices.push(one)
    }
  }
  await walk(order, request.order === 'name' ? after?.name : undefined, collect, signal)
  const all = found.flatMap(({ devices }) => devices)
  return { devices: all.slice(0, limit).filter(one => fleet.has(one)), hasMore: all.length > limit }
}
