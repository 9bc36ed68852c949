/**
 * All slots in the order of their names, in blocks with a count for each state. A change of state changes two counts,
 * and a page skips the blocks without matches.
 */

import { bug } from '../../store/limits/bug.ts'
import { liveStates } from './live-state.ts'

export interface Block {
  readonly slots: number[]
  /** Indexed by state. */
  readonly counts: Int32Array
}

export const blockMax = 512

/** Slots in the order of the names of their devices. */
export interface FleetOrder {
  /** Indexed by state. */
  readonly counts: Int32Array
  /** The blocks with names behind this one, and the start index in the first of them; undefined for all. */
  blocksAfter(name: string | undefined): Iterable<{ readonly block: Block; readonly from: number }>
}

export class NameOrder implements FleetOrder {
  /** Blocks are never empty. */
  readonly #blocks: Block[] = []
  /** Indexed by slot. */
  readonly #blockOf: (Block | undefined)[] = []
  readonly #names: (string | undefined)[] = []
  readonly counts = new Int32Array(liveStates.length)
  readonly #stateOf: (slot: number) => number

  /** `stateOf` gets slots that are in this order. */
  constructor(stateOf: (slot: number) => number) {
    this.#stateOf = stateOf
  }

  /** Fills an empty order. Names must ascend. */
  fill(slots: readonly number[], nameOf: (slot: number) => string): void {
    if (this.#blocks.length > 0) throw bug('order of names filled twice')
    let nameBefore = ''
    for (let from = 0; from < slots.length; from += blockMax / 2) {
      const block = this.#newBlock(slots.slice(from, from + blockMax / 2))
      this.#blocks.push(block)
      for (const slot of block.slots) {
        const name = nameOf(slot)
        if (name < nameBefore) throw bug(`names out of order: ${name} after ${nameBefore}`)
        nameBefore = name
        this.#names[slot] = name
        this.#count(block, this.#stateOf(slot), 1)
      }
    }
  }

  add(slot: number, name: string): void {
    if (this.#blockOf[slot] !== undefined) throw bug(`slot ${slot} is in the order already, as ${this.#names[slot]}`)
    if (this.#blocks.length === 0) this.#blocks.push(this.#newBlock([]))
    // A name behind all others goes to the last block.
    const index = Math.min(this.#blockFrom(name), this.#blocks.length - 1)
    const block = this.#blocks[index] as Block
    const place = this.#placeIn(block, name)
    this.#assertBetween(block, place, name)
    block.slots.splice(place, 0, slot)
    this.#names[slot] = name
    this.#blockOf[slot] = block
    this.#count(block, this.#stateOf(slot), 1)
    if (block.slots.length > blockMax) this.#split(index)
  }

  remove(slot: number): void {
    const block = this.#blockWith(slot)
    const place = block.slots.indexOf(slot)
    if (place === -1) throw bug(`slot ${slot} is not in its block`)
    block.slots.splice(place, 1)
    this.#count(block, this.#stateOf(slot), -1)
    this.#blockOf[slot] = undefined
    this.#names[slot] = undefined
    if (block.slots.length === 0) this.#blocks.splice(this.#blocks.indexOf(block), 1)
  }

  changeState(slot: number, from: number, to: number): void {
    const block = this.#blockWith(slot)
    this.#count(block, from, -1)
    this.#count(block, to, 1)
  }

  #blockWith(slot: number): Block {
    const block = this.#blockOf[slot]
    if (block === undefined) throw bug(`slot ${slot} is not in the order`)
    return block
  }

  #assertBetween({ slots }: Block, place: number, name: string): void {
    const [before, behind] = [slots[place - 1], slots[place]]
    if (before !== undefined && this.nameOf(before) > name)
      throw bug(`names out of order: ${name} after ${this.nameOf(before)}`)
    if (behind !== undefined && this.nameOf(behind) < name)
      throw bug(`names out of order: ${name} before ${this.nameOf(behind)}`)
  }

  /** The name under which the slot is sorted. */
  nameOf(slot: number): string {
    return this.#names[slot] as string
  }

  *blocksAfter(name: string | undefined): Generator<{ readonly block: Block; readonly from: number }> {
    const first = name === undefined ? 0 : this.#blockFrom(name)
    for (let index = first; index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as Block
      let from = index === first && name !== undefined ? this.#placeIn(block, name) : 0
      if (from < block.slots.length && name !== undefined && this.nameOf(block.slots[from] as number) === name) from++
      yield { block, from }
    }
  }

  /** The first block whose last name is not before this one. */
  #blockFrom(name: string): number {
    let [low, high] = [0, this.#blocks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const last = (this.#blocks[middle] as Block).slots.at(-1) as number
      if (this.nameOf(last) < name) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The first index in the block whose name is not before this one. */
  #placeIn({ slots }: Block, name: string): number {
    let [low, high] = [0, slots.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.nameOf(slots[middle] as number) < name) low = middle + 1
      else high = middle
    }
    return low
  }

  #newBlock(slots: number[]): Block {
    const block = { slots, counts: new Int32Array(liveStates.length) }
    for (const slot of slots) this.#blockOf[slot] = block
    return block
  }

  #split(index: number): void {
    const block = this.#blocks[index] as Block
    const moved = this.#newBlock(block.slots.splice(block.slots.length >> 1))
    this.#blocks.splice(index + 1, 0, moved)
    for (const slot of moved.slots) {
      const state = this.#stateOf(slot)
      ;(block.counts[state] as number)--
      ;(moved.counts[state] as number)++
    }
  }

  #count(block: Block, state: number, change: number): void {
    ;(block.counts[state] as number) += change
    ;(this.counts[state] as number) += change
    const count = block.counts[state] as number
    if (!(count >= 0 && count <= block.slots.length + 1))
      throw bug(`invalid count ${count} of state ${state} in a block`)
  }
}
