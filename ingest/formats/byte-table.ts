/**
 * Numbers keys of bytes in the order in which they are added. It is a cache that lives as long as its thread: the keys are copied,
 * and one that finds no place within a few steps is not added, so that no choice of keys makes a search long.
 */

import { randomInt } from 'node:crypto'

const stepsMax = 16
const keysMin = 1024
const keyBytesUsual = 32

export class ByteTable {
  /** Where the next key goes; the bytes of key `n` end at `ends[n]`, where those of the next one begin. */
  #used = 0
  #bytes = Buffer.alloc(keysMin * keyBytesUsual)
  #ends = new Uint32Array(keysMin)
  /** By place: the hash, and behind it the number of the key and one more, 0 where there is none. At most half of them are taken. */
  #slots = new Int32Array(2 * 2 * keysMin)
  #size = 0
  readonly #seed = randomInt(2 ** 32) | 0

  get size(): number {
    return this.#size
  }

  /** The bytes of all keys. */
  get bytesUsed(): number {
    return this.#used
  }

  /** The number of the key that stands from `start` to `end`; -1 where it is not there. */
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

  /** The same, but adds a key that is not there; -1 where it finds no place. */
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
      // One that finds no place is not found any more.
      if (old[at + 1] !== 0) this.#place(old[at] as number, (old[at + 1] as number) - 1)
    }
  }
}
