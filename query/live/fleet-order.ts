/**
 * Devices in the order of their names. The whole fleet is kept in blocks with a count for each state: a change of state
 * changes two counts, and a page skips the blocks without matches.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import type { Block, DeviceState } from './device-state.ts'
import { type FleetGroups, groupsMax } from './fleet-shape.ts'
import { type LiveCounts, type LiveState, liveStates, noCounts } from './live-state.ts'

export interface FleetOrder {
  readonly counts: LiveCounts
  /** The devices with names behind this one, in parts; undefined for all. */
  blocksAfter(name: string | undefined): Iterable<{ readonly block: Block; readonly from: number }>
}

const blockMax = 512

function countedBlock(devices: DeviceState[]): Block {
  const counts = noCounts()
  for (const { state } of devices) counts[state]++
  return { devices, counts }
}

export class NameOrder implements FleetOrder {
  /** Blocks are never empty. */
  readonly #blocks: Block[] = []
  readonly counts = noCounts()

  /** Fills an empty order. Names must ascend. */
  fill(devices: readonly DeviceState[]): void {
    if (this.#blocks.length > 0) throw bug('order of names filled twice')
    for (const [place, { device, state }] of devices.entries()) {
      const before = devices[place - 1]?.device.name ?? ''
      if (device.name < before) throw bug(`names out of order: ${device.name} after ${before}`)
      this.counts[state]++
    }
    for (let from = 0; from < devices.length; from += blockMax / 2) {
      this.#blocks.push(this.#newBlock(devices.slice(from, from + blockMax / 2)))
    }
  }

  add(device: DeviceState): void {
    const { name } = device.device
    if (device.block !== undefined) throw bug(`${name} is in the order already`)
    this.counts[device.state]++
    if (this.#blocks.length === 0) {
      this.#blocks.push(this.#newBlock([device]))
      return
    }
    // A name behind all others goes to the last block.
    const index = Math.min(this.#blockFrom(name), this.#blocks.length - 1)
    const block = this.#blocks[index] as Block
    block.devices.splice(placeFrom(block.devices, name), 0, device)
    block.counts[device.state]++
    device.block = block
    if (block.devices.length <= blockMax) return
    const half = block.devices.length >> 1
    this.#blocks.splice(
      index,
      1,
      this.#newBlock(block.devices.slice(0, half)),
      this.#newBlock(block.devices.slice(half)),
    )
  }

  /** Must be called before the device changes its name. */
  remove(device: DeviceState): void {
    const block = blockOf(device)
    const place = block.devices.indexOf(device)
    if (place === -1) throw bug(`${device.device.name} is not in its block`)
    block.devices.splice(place, 1)
    block.counts[device.state]--
    this.counts[device.state]--
    device.block = undefined
    if (block.devices.length === 0) this.#blocks.splice(this.#blocks.indexOf(block), 1)
  }

  changeState(device: DeviceState, state: LiveState): void {
    for (const counts of [blockOf(device).counts, this.counts]) {
      counts[device.state]--
      counts[state]++
    }
    device.state = state
  }

  *blocksAfter(name: string | undefined): Generator<{ readonly block: Block; readonly from: number }> {
    const first = name === undefined ? 0 : this.#blockFrom(name)
    for (let index = first; index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as Block
      yield { block, from: index === first && name !== undefined ? placeAfter(block.devices, name) : 0 }
    }
  }

  #newBlock(devices: DeviceState[]): Block {
    const block = countedBlock(devices)
    for (const device of devices) device.block = block
    return block
  }

  /** The first block whose last name is not before this one. */
  #blockFrom(name: string): number {
    return firstPlace(this.#blocks.length, index => {
      const last = (this.#blocks[index] as Block).devices.at(-1) as DeviceState
      return last.device.name >= name
    })
  }
}

function blockOf({ block, device }: DeviceState): Block {
  if (block === undefined) throw bug(`${device.name} is not in the order`)
  return block
}

export interface ListedDevice {
  readonly number: number
  readonly name: string
}

/** Some devices, such as an owner's. The cost of a walk depends only on their number. */
export class ListedOrder implements FleetOrder {
  readonly #find: (number: number) => DeviceState | undefined
  readonly #devices: readonly ListedDevice[]

  /** The devices ascend by name. `find` returns undefined for a device that was removed since the list was made. */
  constructor(devices: readonly ListedDevice[], find: (number: number) => DeviceState | undefined) {
    this.#devices = devices
    this.#find = find
  }

  get counts(): LiveCounts {
    return this.#blockOf(this.#devices).counts
  }

  *blocksAfter(name: string | undefined): Generator<{ readonly block: Block; readonly from: number }> {
    const devices = this.#devices
    const first = name === undefined ? 0 : firstPlace(devices.length, at => (devices[at] as ListedDevice).name > name)
    for (let at = first; at < devices.length; at += blockMax) {
      const block = this.#blockOf(devices.slice(at, at + blockMax))
      if (block.devices.length > 0) yield { block, from: 0 }
    }
  }

  #blockOf(listed: readonly ListedDevice[]): Block {
    return countedBlock(listed.flatMap(({ number }) => this.#find(number) ?? []))
  }
}

function placeFrom(devices: readonly DeviceState[], name: string): number {
  return firstPlace(devices.length, at => (devices[at] as DeviceState).device.name >= name)
}

function placeAfter(devices: readonly DeviceState[], name: string): number {
  return firstPlace(devices.length, at => (devices[at] as DeviceState).device.name > name)
}

/** The first index for which the condition holds, as it does for all behind it; `length` for none. */
function firstPlace(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Devices of one turn, which takes a fraction of a millisecond. */
const devicesPerTurn = 4096

/** `visit` gets the devices behind `after`, or all, some thousands a turn. */
export async function walk(
  order: FleetOrder,
  after: string | undefined,
  visit: (devices: readonly DeviceState[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let passed = after
  for (let isDone = false; !isDone; ) {
    let visited = 0
    isDone = true
    for (const { block, from } of order.blocksAfter(passed)) {
      visit(block.devices.slice(from))
      passed = block.devices.at(-1)?.device.name
      visited += block.devices.length
      if (visited < devicesPerTurn) continue
      isDone = false
      break
    }
    if (!isDone) await turn(undefined, { signal })
  }
}

/** The devices of the fleet by their tags of one key, counted by state. */
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
