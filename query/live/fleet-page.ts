/** A page of the fleet, sorted by state (worst first) and name or by name alone; and a search through all names. */

import type { LiveFleet } from './live-fleet.ts'
import { type LiveState, liveStates } from './live-state.ts'
import type { Block, FleetOrder } from './name-order.ts'
import { walk } from './walk.ts'

export interface FleetPlace {
  /** Undefined in the order of names. */
  readonly state: LiveState | undefined
  readonly name: string
}

export interface FleetPageRequest {
  /** Only devices in one of these states. */
  readonly states: readonly LiveState[]
  readonly order: 'state' | 'name'
  /** The last device of the previous page; undefined for the first page. */
  readonly after: FleetPlace | undefined
  readonly limit: number
}

export interface FoundPage {
  readonly slots: readonly number[]
  readonly hasMore: boolean
}

export function pageOf(fleet: LiveFleet, order: FleetOrder, request: FleetPageRequest): FoundPage {
  const slots = slotsOf(fleet, order, request)
  return { slots: slots.slice(0, request.limit), hasMore: slots.length > request.limit }
}

/** Returns one slot more than requested when another page follows. */
function slotsOf(fleet: LiveFleet, order: FleetOrder, request: FleetPageRequest): number[] {
  const wanted = wantedStates(request.states)
  const slots: number[] = []
  for (const { states, after } of stepsOf(request, wanted)) {
    for (const { block, from } of order.blocksAfter(after)) {
      if (!hasAny(block, states)) continue
      collect(fleet, block, from, states, request.limit + 1, slots)
      if (slots.length > request.limit) return slots
    }
  }
  return slots
}

/** The state filter and the start of each walk over the names. */
function* stepsOf({ order, after }: FleetPageRequest, wanted: Uint8Array) {
  if (order === 'name') {
    yield { states: wanted, after: after?.name }
    return
  }
  const first = after?.state === undefined ? 0 : liveStates.indexOf(after.state)
  for (let state = first; state < liveStates.length; state++) {
    if (wanted[state] === 0) continue
    const only = new Uint8Array(liveStates.length)
    only[state] = 1
    yield { states: only, after: state === first ? after?.name : undefined }
  }
}

function wantedStates(states: readonly LiveState[]): Uint8Array {
  return Uint8Array.from(liveStates, state => (states.includes(state) ? 1 : 0))
}

function hasAny({ counts }: Block, states: Uint8Array): boolean {
  for (let state = 0; state < states.length; state++) if (states[state] === 1 && counts[state] !== 0) return true
  return false
}

function collect(
  fleet: LiveFleet,
  { slots: inBlock }: Block,
  from: number,
  wanted: Uint8Array,
  lengthMax: number,
  slots: number[],
): void {
  const { states } = fleet.columns()
  for (let place = from; place < inBlock.length && slots.length < lengthMax; place++) {
    const slot = inBlock[place] as number
    if (wanted[states[slot] as number] === 1) slots.push(slot)
  }
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
  const text = search.normalize('NFC').toLowerCase()
  const wanted = wantedStates(request.states)
  /** Numbers of devices by state, or all in the first list. A later turn may reuse slots. */
  const found: number[][] = liveStates.map(() => [])
  const after = request.order === 'name' ? request.after?.name : undefined
  await walk(fleet, order, after, slots => searchSlots(fleet, request, slots, text, wanted, found), signal)
  const numbers = found.flat()
  const slots = numbers.slice(0, request.limit).map(number => fleet.slotOf(number))
  return { slots: slots.filter(slot => slot >= 0), hasMore: numbers.length > request.limit }
}

function searchSlots(
  fleet: LiveFleet,
  { order, after, limit }: FleetPageRequest,
  slots: readonly number[],
  text: string,
  wanted: Uint8Array,
  found: number[][],
): void {
  const { states, numbers } = fleet.columns()
  const afterState = order === 'name' || after?.state === undefined ? -1 : liveStates.indexOf(after.state)
  for (const slot of slots) {
    const state = states[slot] as number
    if (wanted[state] === 0 || state < afterState || !fleet.text(slot).includes(text)) continue
    if (state === afterState && fleet.order.nameOf(slot) <= (after?.name ?? '')) continue
    const list = found[order === 'name' ? 0 : state] as number[]
    if (list.length <= limit) list.push(numbers[slot] as number)
  }
}
