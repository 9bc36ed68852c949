/** Cuts a stream of bytes into chunks of whole lines, so that each chunk can be read separately, in any thread. */

import { bug } from '../../store/limits/bug.ts'
import type { Fields } from '../field-names.ts'

const lineFeed = 0x0a

export interface LineLimits {
  /** Size of a chunk, and of the part of a body in memory at a time. */
  chunkBytes: number
  /** A longer line is cut to one byte more than this, by which its reader detects it. */
  lineBytesMax: number
}

/** A chunk owns its memory from its first byte to its last, so that it can be transferred to another thread without a copy. */
export type Chunk = Uint8Array<ArrayBuffer>

export async function* wholeLines(body: AsyncIterable<Uint8Array>, limits: LineLimits): AsyncGenerator<Chunk> {
  const cutter = new LineCutter(limits)
  for await (const piece of body) {
    for (let offset = 0; offset < piece.length; ) {
      offset += cutter.take(piece, offset)
      if (cutter.isFull()) {
        const chunk = cutter.cut()
        if (chunk.length > 0) yield chunk
      }
    }
  }
  const rest = cutter.rest()
  if (rest.length > 0) yield rest
}

class LineCutter {
  readonly #lineBytesMax: number
  readonly #chunkBytes: number
  #chunk: Chunk
  #filled = 0
  /** The current line has lost bytes: the rest of it is skipped. */
  #skipping = false

  constructor({ chunkBytes, lineBytesMax }: LineLimits) {
    if (chunkBytes <= lineBytesMax + 1) throw bug(`a chunk of ${chunkBytes} bytes holds no line of ${lineBytesMax}`)
    this.#chunkBytes = chunkBytes
    this.#lineBytesMax = lineBytesMax
    this.#chunk = new Uint8Array(chunkBytes)
  }

  isFull(): boolean {
    return this.#filled === this.#chunkBytes
  }

  /** Takes bytes of the piece from the offset on, and returns their number. */
  take(piece: Uint8Array, offset: number): number {
    let from = offset
    if (this.#skipping) {
      const end = piece.indexOf(lineFeed, offset)
      if (end === -1) return piece.length - offset
      this.#skipping = false
      from = end
    }
    const taken = Math.min(piece.length - from, this.#chunkBytes - this.#filled)
    this.#chunk.set(piece.subarray(from, from + taken), this.#filled)
    this.#filled += taken
    return from + taken - offset
  }

  /** Returns the whole lines so far. An incomplete line opens the next chunk. */
  cut(): Chunk {
    const lines = this.#chunk.subarray(0, this.#filled)
    const end = lines.lastIndexOf(lineFeed) + 1
    const begun = lines.subarray(end)
    const kept = Math.min(begun.length, this.#lineBytesMax + 1)
    const next: Chunk = new Uint8Array(this.#chunkBytes)
    next.set(begun.subarray(0, kept))
    this.#skipping = kept < begun.length
    this.#filled = kept
    this.#chunk = next
    return lines.subarray(0, end)
  }

  rest(): Chunk {
    return this.#chunk.subarray(0, this.#filled)
  }
}

/** `json`: an array of NDJSON's objects. */
export type Format = 'csv' | 'ndjson' | 'json'

/**
 * Reads the bytes from `start` to `end`: the fields with the names of the CSV header, or a sentence for an unreadable line. The
 * fields are valid until the next call, which may return the same object.
 */
export interface LineReader {
  (chunk: Buffer, start: number, end: number): Fields | string
  /** True when the last line may have fields without a column. */
  hasOthers?: boolean
  /** Place of the last name among the known names that the reader was given; -1 for an unknown name. */
  knownName?: number
}
