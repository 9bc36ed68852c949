/** Some devices of the fleet, such as an owner's, in the order of their names. The cost of a walk depends only on their number. */

import type { LiveFleet } from './live-fleet.ts'
import { liveStates } from './live-state.ts'
import { type Block, blockMax, type FleetOrder } from './name-order.ts'

export interface ListedDevice {
  readonly number: number
  readonly name: string
}

export class ListedOrder implements FleetOrder {
  readonly #fleet: LiveFleet
  readonly #devices: readonly ListedDevice[]

  /** The devices ascend by name. */
  constructor(fleet: LiveFleet, devices: readonly ListedDevice[]) {
    this.#fleet = fleet
    this.#devices = devices
  }

  get counts(): Int32Array {
    return this.#blockOf(this.#devices).counts
  }

  *blocksAfter(name: string | undefined): Generator<{ readonly block: Block; readonly from: number }> {
    const devices = this.#devices
    for (let at = name === undefined ? 0 : this.#placeAfter(name); at < devices.length; at += blockMax) {
      const block = this.#blockOf(devices.slice(at, at + blockMax))
      if (block.slots.length > 0) yield { block, from: 0 }
    }
  }

  #blockOf(devices: readonly ListedDevice[]): Block {
    const { states } = this.#fleet.columns()
    const slots: number[] = []
    const counts = new Int32Array(liveStates.length)
    for (const { number } of devices) {
      const slot = this.#fleet.slotOf(number)
      // It may have been removed since the list was made.
      if (slot < 0) continue
      slots.push(slot)
      ;(counts[states[slot] as number] as number)++
    }
    return { slots, counts }
  }

  /** Index of the first device whose name is behind this one. */
  #placeAfter(name: string): number {
    let [low, high] = [0, this.#devices.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#devices[middle] as ListedDevice).name <= name) low = middle + 1
      else high = middle
    }
    return low
  }
}
