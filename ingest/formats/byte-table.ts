/**
 * Numbers byte keys in the order of their addition. The cache lives as long as its thread. Keys are copied. A key without a free
 * slot within a few steps is not added, so that a search never becomes long.
 */

import { randomInt } from 'node:crypto'

const stepsMax = 16
const keysMin = 1024
const keyBytesUsual = 32

export class ByteTable {
  /** Offset of the next key. The bytes of key `n` end at `ends[n]`, where the next key begins. */
  #used = 0
  #bytes = Buffer.alloc(keysMin * keyBytesUsual)
  #ends = new Uint32Array(keysMin)
  /** Pairs of a hash and the number of the key plus one, 0 for a free slot. At most half of the slots are used. */
  #slots = new Int32Array(2 * 2 * keysMin)
  #size = 0
  readonly #seed = randomInt(2 ** 32) | 0

  get size(): number {
    return this.#size
  }

  /** Length of all keys together. */
  get bytesUsed(): number {
    return this.#used
  }

  /** Number of the key from `start` to `end`; -1 for an unknown key. */
  find(source: Uint8Array, start: number, end: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    const hash = this.#hash(source, start, end)
    for (let step = 0, at = (2 * hash) & mask; step < stepsMax; step++, at = (at + 2) & mask) {
      const found = slots[at + 1] as number
      if (found === 0) return -1
      if (slots[at] === hash && this.#isEqual(found - 1, source, start, end)) return found - 1
    }
    return -1
  }

  /** Like `find`, but adds an unknown key; -1 where no slot is free. */
  add(source: Uint8Array, start: number, end: number): number {
    const known = this.find(source, start, end)
    if (known !== -1) return known
    this.#makeRoom(end - start)
    if (!this.#place(this.#hash(source, start, end), this.#size)) return -1
    this.#bytes.set(source.subarray(start, end), this.#used)
    this.#used += end - start
    this.#ends[this.#size] = this.#used
    return this.#size++
  }

  #place(hash: number, number: number): boolean {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let step = 0, at = (2 * hash) & mask; step < stepsMax; step++, at = (at + 2) & mask) {
      if (slots[at + 1] !== 0) continue
      slots[at] = hash
      slots[at + 1] = number + 1
      return true
    }
    return false
  }

  #hash(source: Uint8Array, start: number, end: number): number {
    let hash = this.#seed
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (source[at] as number), 0x0100_0193)
    hash = Math.imul(hash ^ (hash >>> 15), 0x85eb_ca6b)
    return hash ^ (hash >>> 13)
  }

  #isEqual(number: number, source: Uint8Array, start: number, end: number): boolean {
    const bytes = this.#bytes
    const from = number === 0 ? 0 : (this.#ends[number - 1] as number)
    if ((this.#ends[number] as number) - from !== end - start) return false
    for (let at = start, own = from; at < end; at++, own++) if (bytes[own] !== source[at]) return false
    return true
  }

  #makeRoom(keyBytes: number): void {
    if (this.#used + keyBytes > this.#bytes.length) {
      const bytes = Buffer.alloc(2 * this.#bytes.length + keyBytes)
      bytes.set(this.#bytes)
      this.#bytes = bytes
    }
    if (this.#size === this.#ends.length) this.#grow()
  }

  #grow(): void {
    const ends = new Uint32Array(2 * this.#ends.length)
    ends.set(this.#ends)
    this.#ends = ends
    const old = this.#slots
    this.#slots = new Int32Array(2 * old.length)
    for (let at = 0; at < old.length; at += 2) {
      // A key without a free slot is dropped.
      if (old[at + 1] !== 0) this.#place(old[at] as number, (old[at + 1] as number) - 1)
    }
  }
}
