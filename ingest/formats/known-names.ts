/**
 * Caches of a reading thread over all bodies: resolved device names, and series of line protocol that contained them.
 * The thread sends a device's number in place of its name. The main thread checks that the device has not changed
 * since, so that stale entries need no invalidation.
 */

import { randomInt } from 'node:crypto'
import { createFieldTables, type FieldTable, type LineNames } from './line-protocol-names.ts'

/** A resolved device. */
interface ResolvedDevice {
  readonly number: number
  readonly symbol: string
  /** Sequence number of its last change. */
  readonly authSeq: number
}

/** The registry's limit of devices. A name takes some 150 bytes. */
const namesMax = 1_000_000
const bytesMax = 64 * 1024 * 1024
const roomMin = 1024

export class KnownNames {
  readonly #max: number
  readonly #table = new ByteTable()
  /** The index is the name's number in the table. The value is its place below, or -1 after `forget`. */
  #places = new Int32Array(roomMin)
  // A name that moves to another device gets another place, since rows of the first device may be in progress.
  readonly #texts: string[] = []
  readonly #symbols: string[] = []
  #numbers = new Uint32Array(roomMin)
  #authSeqs = new Float64Array(roomMin)
  /** Their numbers in the table. */
  #names = new Uint32Array(roomMin)
  /** The last reader of each name, and the reader's own index for it; see `NameIndex`. */
  #readers = new Uint32Array(roomMin)
  #indexes = new Uint32Array(roomMin)
  #readerCount = 0
  #nameCount = 0

  constructor(max = namesMax) {
    this.#max = max
  }

  /** The owner then creates a new cache. */
  isFull(): boolean {
    return this.#texts.length >= this.#max || this.#table.bytesUsed >= bytesMax
  }

  /** Place of the name; -1 for an unknown name. */
  find(source: Uint8Array, start: number, end: number): number {
    const name = this.#table.find(source, start, end)
    return name === -1 ? -1 : (this.#places[name] as number)
  }

  findText(text: string): number {
    const bytes = Buffer.from(text)
    return this.find(bytes, 0, bytes.length)
  }

  learn(text: string, { number, symbol, authSeq }: ResolvedDevice): void {
    const bytes = Buffer.from(text)
    // A malformed text has the same bytes as another one.
    if (this.isFull() || bytes.toString() !== text) return
    const name = this.#table.add(bytes, 0, bytes.length)
    if (name === -1) return
    if (name >= this.#places.length) this.#places = copyOf(this.#places, new Int32Array(2 * this.#places.length))
    const isNew = name === this.#nameCount
    if (isNew) this.#nameCount++
    const known = isNew ? -1 : (this.#places[name] as number)
    const place = known !== -1 && this.#numbers[known] === number ? known : this.#add(bytes.toString(), number, symbol)
    this.#authSeqs[place] = authSeq
    this.#names[place] = name
    this.#places[name] = place
  }

  /** Its name now belongs to another device or to none. */
  forget(place: number): void {
    const name = this.#names[place] as number
    if (this.#places[name] === place) this.#places[name] = -1
  }

  /** True when the name belongs to this device, as far as is known. */
  isCurrent(place: number): boolean {
    return this.#places[this.#names[place] as number] === place
  }

  text(place: number): string {
    return this.#texts[place] as string
  }

  symbol(place: number): string {
    return this.#symbols[place] as string
  }

  number(place: number): number {
    return this.#numbers[place] as number
  }

  authSeq(place: number): number {
    return this.#authSeqs[place] as number
  }

  nextReader(): number {
    return ++this.#readerCount
  }

  note(place: number, reader: number, index: number): void {
    this.#readers[place] = reader
    this.#indexes[place] = index
  }

  /** -1 where another reader noted it last. */
  indexOf(place: number, reader: number): number {
    return this.#readers[place] === reader ? (this.#indexes[place] as number) : -1
  }

  #add(text: string, number: number, symbol: string): number {
    if (this.#texts.length === this.#numbers.length) this.#grow()
    // Copies: a slice would keep the whole message in memory.
    const place = this.#texts.push(text) - 1
    this.#symbols.push(Buffer.from(symbol).toString())
    this.#numbers[place] = number
    return place
  }

  #grow(): void {
    const room = 2 * this.#numbers.length
    this.#numbers = copyOf(this.#numbers, new Uint32Array(room))
    this.#authSeqs = copyOf(this.#authSeqs, new Float64Array(room))
    this.#names = copyOf(this.#names, new Uint32Array(room))
    this.#readers = copyOf(this.#readers, new Uint32Array(room))
    this.#indexes = copyOf(this.#indexes, new Uint32Array(room))
  }
}

function copyOf<Column extends Int32Array | Uint32Array | Float64Array>(from: Column, to: Column): Column {
  to.set(from)
  return to
}

/** A series whose lines name the same device for every sender. */
export interface KnownSeries {
  /** The place of the device's name. */
  readonly place: number
  readonly fields: FieldTable
}

/** A series takes some 150 bytes. */
const seriesMax = 1_000_000

export class KnownLines {
  readonly names = new KnownNames()
  readonly fieldsOf: (measurement: string) => FieldTable
  readonly #table = new ByteTable()
  readonly #series: KnownSeries[] = []

  constructor(names: LineNames) {
    this.fieldsOf = createFieldTables(names)
  }

  /** The owner then creates a new cache. */
  isFull(): boolean {
    return this.names.isFull() || this.#series.length >= seriesMax || this.#table.bytesUsed >= bytesMax
  }

  /** Undefined where its name now belongs to another device or to none. */
  find(source: Uint8Array, start: number, end: number): KnownSeries | undefined {
    const number = this.#table.find(source, start, end)
    const series = number === -1 ? undefined : this.#series[number]
    return series === undefined || !this.names.isCurrent(series.place) ? undefined : series
  }

  add(source: Uint8Array, start: number, end: number, series: KnownSeries): void {
    if (this.isFull()) return
    const number = this.#table.add(source, start, end)
    if (number !== -1) this.#series[number] = series
  }
}

const stepsMax = 16
const keysMin = 1024
const keyBytesUsual = 32

/**
 * Numbers byte keys in the order of their addition. Keys are copied. A key without a free slot within a few steps is not added,
 * so that a search never becomes long.
 */
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

  /** Finds a key like `find`, but adds an unknown one. Returns -1 where no slot is free. */
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
