/** Numbers the distinct names of rows in the order of their appearance, and interns repeated texts. A name may have several parts. */

import type { KnownNames } from './known-names.ts'

type Node = Map<string, Node | number>

/** Place of a name that is passed as a text. */
const noPlace = -1

export class NameIndex {
  /** Known names of one part, which need no text. */
  readonly known: KnownNames | undefined
  readonly #reader: number
  /** Undefined for a known name that was found by its place. */
  readonly #parts: (readonly string[] | undefined)[] = []
  readonly #places: number[] = []
  readonly #root: Node = new Map()
  /** Names up to this index are in the map. Names found by their places are added when the first text arrives. */
  #mapped = 0
  #hasTexts = false

  constructor(known?: KnownNames) {
    this.known = known
    this.#reader = known?.nextReader() ?? 0
  }

  get count(): number {
    return this.#places.length
  }

  /** All names of an index have the same number of parts. */
  indexOf(parts: readonly string[]): number {
    const place = this.#hasTexts ? noPlace : this.#placeOfText(parts[0] ?? '')
    if (place !== noPlace) return this.indexOfKnown(place)
    this.#hasTexts = true
    while (this.#mapped < this.count) this.#map(this.#mapped)
    const node = this.#nodeOf(parts)
    const found = node.get(parts.at(-1) ?? '')
    if (typeof found === 'number') return found
    const index = this.#push([...parts], noPlace)
    this.#map(index)
    return index
  }

  /** Adds the known name at this place. */
  indexOfKnown(place: number): number {
    const known = this.known as KnownNames
    const noted = known.indexOf(place, this.#reader)
    if (noted !== -1) return noted
    const { count } = this
    const index = this.#hasTexts ? this.indexOf([known.text(place)]) : this.#push(undefined, place)
    if (index === count) this.#places[index] = place
    known.note(place, this.#reader, index)
    return index
  }

  /** Call it before using the index again: others may have used the known names since. */
  resume(): void {
    // A second reading also looks up texts.
    this.#hasTexts = true
    for (let index = 0; index < this.count; index++) {
      const place = this.#places[index] as number
      if (place !== noPlace) this.known?.note(place, this.#reader, index)
    }
  }

  parts(index: number): readonly string[] {
    return this.#parts[index] ?? [this.known?.text(this.#places[index] as number) ?? '']
  }

  /** The first part. */
  textOf(index: number): string {
    return this.#parts[index]?.[0] ?? this.parts(index)[0] ?? ''
  }

  /** Its place among the known names; -1 for a name passed as a text. */
  placeOf(index: number): number {
    return this.#places[index] as number
  }

  /** Indexes of the names passed as texts. */
  textIndexes(): number[] {
    const indexes: number[] = []
    for (let index = 0; index < this.count; index++) if (this.#places[index] === noPlace) indexes.push(index)
    return indexes
  }

  /** The name belongs to another device or to none: it is passed as a text from now on. */
  forget(index: number): void {
    this.#parts[index] = this.parts(index)
    this.known?.forget(this.#places[index] as number)
    this.#places[index] = noPlace
    this.#hasTexts = true
  }

  /**
   * Place of a text that was not looked up as bytes. Without this, one such line would require mapping all names of the chunk.
   */
  #placeOfText(text: string): number {
    const place = this.known?.findText(text) ?? noPlace
    // A malformed text has the same bytes as another one.
    return place !== noPlace && this.known?.text(place) === text ? place : noPlace
  }

  #push(parts: readonly string[] | undefined, place: number): number {
    this.#parts.push(parts)
    return this.#places.push(place) - 1
  }

  #map(index: number): void {
    const parts = this.parts(index)
    this.#nodeOf(parts).set(parts.at(-1) ?? '', index)
    this.#mapped = index + 1
  }

  #nodeOf(parts: readonly string[]): Node {
    let node = this.#root
    for (let at = 0; at < parts.length - 1; at++) node = branchOf(node, parts[at] ?? '')
    return node
  }
}

function branchOf(node: Node, part: string): Node {
  const known = node.get(part)
  if (known instanceof Map) return known
  const branch: Node = new Map()
  node.set(part, branch)
  return branch
}

/** A chunk has rows of some thousand devices in turn: with fewer slots they would evict each other. */
const slotCount = 4096
const textBytesMax = 64

interface Slot {
  bytes: Uint8Array
  text: string
}

/** Equal bytes return the existing string. Keeps a reference to the given bytes, so to their chunk. */
export class TextCache {
  readonly #slots: (Slot | undefined)[] = Array(slotCount).fill(undefined)

  read(source: Buffer, start: number, end: number): string {
    if (end - start > textBytesMax) return source.toString('utf8', start, end)
    // Names often differ only in their last bytes, so all of them count.
    let hash = end - start
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (source[at] ?? 0)) | 0
    const index = (hash ^ (hash >>> 8)) & (slotCount - 1)
    const slot = this.#slots[index]
    if (slot !== undefined && isEqual(slot.bytes, source, start, end)) return slot.text
    const text = source.toString('utf8', start, end)
    this.#slots[index] = { bytes: source.subarray(start, end), text }
    return text
  }
}

function isEqual(bytes: Uint8Array, source: Buffer, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== source[start + at]) return false
  return true
}
