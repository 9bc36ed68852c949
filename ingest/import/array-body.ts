/**
 * Converts a streamed JSON array into lines for the reader of NDJSON, one for each element. Only the array's own
 * syntax is checked here. The line's reader rejects an invalid element.
 */

import { BodyFault } from './body-bytes.ts'

/** Throws a `BodyFault` where the body is not a JSON array, or is incomplete. */
export async function* arrayBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const elements = new ArrayLines()
  for await (const piece of body) {
    const lines = elements.take(piece)
    if (lines === undefined) throw new BodyFault('JSON_INVALID', 'the body is not a JSON array')
    yield lines
  }
  if (!elements.isComplete()) throw new BodyFault('JSON_INVALID', 'the body ends before its JSON array does')
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const lineFeed = 0x0a
const space = 0x20
const bracket = { open: 0x5b, close: 0x5d }
const brace = { open: 0x7b, close: 0x7d }
/** Replaces a line feed within a text, where JSON allows neither. */
const startOfHeading = 0x01
const byteOrderMark = [0xef, 0xbb, 0xbf]

type Place = 'before the array' | 'before an element' | 'in an element' | 'behind the array'

export class ArrayLines {
  #place: Place = 'before the array'
  #bytesRead = 0
  #isEmpty = true
  #depth = 0
  #isInText = false
  #isEscaped = false

  /** Returns the lines of a piece of the body, or undefined where it cannot be an array. */
  take(piece: Uint8Array): Uint8Array | undefined {
    // A line is never longer than its element: its comma becomes the line feed.
    const lines = new Uint8Array(piece.length)
    let length = 0
    for (const byte of piece) {
      const written = this.#place === 'in an element' ? this.#inElement(byte) : this.#between(byte)
      if (written === undefined) return undefined
      if (written !== nothing) lines[length++] = written
      this.#bytesRead++
    }
    return lines.subarray(0, length)
  }

  /** True after the end of the array. */
  isComplete(): boolean {
    return this.#place === 'behind the array'
  }

  #between(byte: number): number | undefined {
    if (byte === space || byte === lineFeed || byte === 0x0d || byte === 0x09) return nothing
    switch (this.#place) {
      case 'before the array':
        if (byte === bracket.open) this.#place = 'before an element'
        else if (byte !== byteOrderMark[this.#bytesRead]) return undefined
        return nothing
      case 'before an element':
        if (byte === bracket.close && this.#isEmpty) {
          this.#place = 'behind the array'
          return nothing
        }
        if (byte === comma || byte === bracket.close) return undefined
        this.#isEmpty = false
        this.#place = 'in an element'
        return this.#inElement(byte)
      default:
        return undefined
    }
  }

  #inElement(byte: number): number {
    if (this.#isInText) return this.#inText(byte)
    switch (byte) {
      case quote:
        this.#isInText = true
        return byte
      case lineFeed:
        return space
      case brace.open:
      case bracket.open:
        this.#depth++
        return byte
      case comma:
        return this.#depth === 0 ? this.#endElement('before an element') : byte
      case bracket.close:
        if (this.#depth === 0) return this.#endElement('behind the array')
        this.#depth--
        return byte
      case brace.close:
        if (this.#depth > 0) this.#depth--
        return byte
      default:
        return byte
    }
  }

  #inText(byte: number): number {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) this.#isInText = false
    return byte === lineFeed ? startOfHeading : byte
  }

  #endElement(place: Place): number {
    this.#place = place
    return lineFeed
  }
}

/** Stands for a missing byte. */
const nothing = -1
