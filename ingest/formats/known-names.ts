/**
 * A thread's cache of resolved device names. The thread sends their numbers to the main thread in place of names. The main thread
 * checks that the device has not changed since, so that stale entries need no invalidation.
 */

import { ByteTable } from './byte-table.ts'

/** A resolved device. */
export interface ResolvedDevice {
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
  /** By the number of the name in the table: its place below, or -1 after `forget`. */
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
