/** Rows of a part as requests: how far one of them reaches, and its bytes. */

import type { RequestBody } from './request-body.ts'
import type { Part, Round } from './round.ts'
import { RowBuffer, type RowFormat } from './rows.ts'

/** Rows `from` up to `to` of a part, as one request of `length` bytes; `rows` of them are not overtaken. */
export interface Slice {
  round: Round
  part: Part
  from: number
  to: number
  rows: number
  length: number
}

/** As many rows from `from` to `end` as a request may have bytes; one at least. */
export function cutSlice(
  format: RowFormat,
  round: Round,
  part: Part,
  from: number,
  bytesMax: number,
  end = part.count,
): Slice {
  const { view } = round
  let to = from
  let rows = 0
  let length = 0
  while (to < end) {
    const offset = part.offsets[to] as number
    const added = offset < 0 ? 0 : format.rowLength(view, offset)
    if (length > 0 && length + added > bytesMax) break
    length += added
    if (added > 0) rows++
    to++
  }
  return { round, part, from, to, rows, length }
}

/** One piece is encoded while the one before it is on its way; the connection's own buffer takes more at once. */
const pieceBytes = 512 * 1024

/** For one connection, which has one request under way at a time. */
export class SliceEncoder {
  readonly #format: RowFormat
  readonly #buffers: readonly [RowBuffer, RowBuffer]

  constructor(format: RowFormat) {
    this.#format = format
    this.#buffers = [new RowBuffer(format, pieceBytes), new RowBuffer(format, pieceBytes)]
  }

  body(slice: Slice): RequestBody {
    return { length: slice.length, pieces: () => this.#pieces(slice) }
  }

  *#pieces({ round, part, from, to }: Slice): Generator<Uint8Array> {
    const { bytes, view } = round
    let turn: 0 | 1 = 0
    for (let next = from; next < to; turn = turn === 0 ? 1 : 0) {
      const buffer = this.#buffers[turn]
      buffer.clear()
      while (next < to && buffer.length <= pieceBytes - this.#format.rowBytesMax) {
        const offset = part.offsets[next++] as number
        if (offset >= 0) buffer.add(bytes, view, offset)
      }
      yield buffer.bytes.subarray(0, buffer.length)
    }
  }
}
