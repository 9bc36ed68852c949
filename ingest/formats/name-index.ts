/** Numbers the distinct names of rows in the order in which they come. A name may have several parts. */

import type { KnownNames } from './known-names.ts'

type Node = Map<string, Node | number>

/** Of a name that is told as a text. */
const noPlace = -1

export class NameIndex {
  /** Of names of one part, those that need no text. */
  readonly known: KnownNames | undefined
  readonly #reader: number
  /** Undefined for a name that was found by its place among the known ones. */
  readonly #parts: (readonly string[] | undefined)[] = []
  readonly #places: number[] = []
  readonly #root: Node = new Map()
  /** Names up to this index are in the map: those that came by their places are put there when the first text comes. */
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

  /** The name at this place of the known ones. */
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

  /** To be called before it is used again, as others may have used the known names since. */
  resume(): void {
    // Whoever reads again asks by texts too.
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

  /** Its place among the known names; -1 of one that is told as a text. */
  placeOf(index: number): number {
    return this.#places[index] as number
  }

  /** Of the names that are told as texts. */
  textIndexes(): number[] {
    const indexes: number[] = []
    for (let index = 0; index < this.count; index++) if (this.#places[index] === noPlace) indexes.push(index)
    return indexes
  }

  /** It stands for another device, or for none: from now on it is told as a text. */
  forget(index: number): void {
    this.#parts[index] = this.parts(index)
    this.known?.forget(this.#places[index] as number)
    this.#places[index] = noPlace
    this.#hasTexts = true
  }

  /** Of a text that no reader has looked up among the bytes: one such line, and all names of the chunk would have to be mapped. */
  #placeOfText(text: string): number {
    const place = this.known?.findText(text) ?? noPlace
    // A text that is not well-formed has the bytes of another one.
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
