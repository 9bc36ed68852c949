/**
 * Which rules cover which devices: pairs of both, as numbers, in a list for each device. A pair takes 12 bytes, and a device with
 * any 36.
 */

import { Slots } from '../../query/live/slots.ts'
import { bug } from '../../store/limits/bug.ts'

const none = -1

export class PairTable {
  readonly #slots = new Slots()
  /** By the slot of a device: the first of its pairs. */
  #heads = new Int32Array(64).fill(none)
  #rules = new Int32Array(64)
  #devices = new Int32Array(64)
  #nexts = new Int32Array(64)
  /** The first of those that are given out again. */
  #free = none
  #end = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Pairs are below this. */
  get end(): number {
    return this.#end
  }

  /** -1 for a device without a pair. */
  slotOf(device: number): number {
    return this.#slots.of(device)
  }

  /** -1 behind the last one. */
  firstOf(slot: number): number {
    return this.#heads[slot] as number
  }

  nextOf(pair: number): number {
    return this.#nexts[pair] as number
  }

  /** The place of its rule; -1 for a pair that was removed. */
  ruleOf(pair: number): number {
    return this.#rules[pair] as number
  }

  deviceOf(pair: number): number {
    return this.#devices[pair] as number
  }

  /** -1 where the rule does not cover the device. */
  find(rule: number, device: number): number {
    const slot = this.#slots.of(device)
    if (slot < 0) return none
    let pair = this.firstOf(slot)
    while (pair !== none && this.#rules[pair] !== rule) pair = this.nextOf(pair)
    return pair
  }

  /** The rule does not cover the device yet. */
  add(rule: number, device: number): number {
    const found = this.#slots.of(device)
    const slot = found < 0 ? this.#addSlot(device) : found
    const pair = this.#take()
    this.#rules[pair] = rule
    this.#devices[pair] = device
    this.#nexts[pair] = this.#heads[slot] as number
    this.#heads[slot] = pair
    this.#count++
    return pair
  }

  remove(pair: number): void {
    const device = this.deviceOf(pair)
    const slot = this.#slots.of(device)
    if (slot < 0 || this.ruleOf(pair) === none) throw bug(`the pair ${pair} is not there`)
    if (this.#heads[slot] === pair) this.#heads[slot] = this.nextOf(pair)
    else this.#nexts[this.#before(slot, pair)] = this.nextOf(pair)
    if (this.#heads[slot] === none) this.#slots.remove(device)
    this.#rules[pair] = none
    this.#nexts[pair] = this.#free
    this.#free = pair
    this.#count--
  }

  #before(slot: number, pair: number): number {
    let before = this.firstOf(slot)
    while (before !== none && this.nextOf(before) !== pair) before = this.nextOf(before)
    if (before === none) throw bug(`the pair ${pair} is not in the list of its device`)
    return before
  }

  #addSlot(device: number): number {
    const slot = this.#slots.add(device)
    if (slot >= this.#heads.length) this.#heads = grown(this.#heads)
    this.#heads[slot] = none
    return slot
  }

  #take(): number {
    if (this.#free !== none) {
      const pair = this.#free
      this.#free = this.nextOf(pair)
      return pair
    }
    if (this.#end === this.#rules.length) {
      this.#rules = grown(this.#rules)
      this.#devices = grown(this.#devices)
      this.#nexts = grown(this.#nexts)
    }
    return this.#end++
  }
}

function grown(before: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const after = new Int32Array(2 * before.length)
  after.set(before)
  return after
}
