/** Rows of a part as requests: as many as fit into a buffer, and the next of them while the ones before are on their way. */

import type { Part, Round } from './delivery.ts'
import { ReadingRows, rowBytesMax } from './rows.ts'

/** Rows `from` up to `to` of a part, encoded in the buffer; `rows` of them are not overtaken. */
export interface Slice {
  round: Round
  part: Part
  from: number
  to: number
  rows: number
  buffer: ReadingRows
}

/** For one connection, which has one request under way at a time: that stands in one buffer, the next in the other. */
export class SliceEncoder {
  readonly #buffers: [ReadingRows, ReadingRows]
  #turn: 0 | 1 = 0
  /** What was encoded while the slice before it was on its way. */
  #next: Slice | undefined

  constructor(requestBytes: number) {
    this.#buffers = [new ReadingRows(requestBytes), new ReadingRows(requestBytes)]
  }

  /** The rows from `from` on, to be sent now that nothing else is on its way. */
  take(round: Round, part: Part, from: number): Slice {
    const next = this.#next
    this.#next = undefined
    if (next?.part === part && next.from === from) {
      this.#turn = this.#turn === 0 ? 1 : 0
      return next
    }
    return encodeRows(round, part, from, this.#buffers[this.#turn])
  }

  /** Encodes rows that will be taken after those on their way, unless the buffer for them is in use. */
  encodeAhead(round: Round, part: Part | undefined, from = 0): void {
    if (part === undefined || this.#next !== undefined) return
    this.#next = encodeRows(round, part, from, this.#buffers[this.#turn === 0 ? 1 : 0])
  }
}

/** As many rows from `from` to `end` as fit into the buffer. */
export function encodeRows(round: Round, part: Part, from: number, buffer: ReadingRows, end = part.count): Slice {
  const lengthMax = buffer.bytes.length - rowBytesMax
  const { bytes, view } = round
  buffer.clear()
  let to = from
  let rows = 0
  while (to < end && buffer.length <= lengthMax) {
    const offset = part.offsets[to++] as number
    if (offset < 0) continue
    buffer.add(bytes, view, offset)
    rows++
  }
  return { round, part, from, to, rows, buffer }
}
