/** Rows of a part as requests: how far one of them reaches, and its bytes. */

import type { Batch, Part } from './batch.ts'
import type { RequestBody } from './request-body.ts'
import { RowBuffer, type RowFormat } from './rows.ts'

/** Rows `from` up to `to` of a part, as one request of `length` bytes; `rows` of them are not superseded. */
export interface WriteRequest {
  batch: Batch
  part: Part
  from: number
  to: number
  rows: number
  length: number
}

/** As many rows from `from` to `end` as a request may have bytes; one at least. */
export function cutRequest(
  format: RowFormat,
  batch: Batch,
  part: Part,
  from: number,
  bytesMax: number,
  end = part.count,
): WriteRequest {
  const { view } = batch
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
  return { batch, part, from, to, rows, length }
}

/** One piece is encoded while the one before it is being sent; the connection's own buffer takes more at once. */
const pieceBytes = 512 * 1024

/** For one connection, which has one request in flight at a time. */
export class RequestEncoder {
  readonly #format: RowFormat
  readonly #buffers: readonly [RowBuffer, RowBuffer]

  constructor(format: RowFormat) {
    this.#format = format
    this.#buffers = [new RowBuffer(format, pieceBytes), new RowBuffer(format, pieceBytes)]
  }

  body(request: WriteRequest): RequestBody {
    return { length: request.length, pieces: () => this.#pieces(request) }
  }

  *#pieces({ batch, part, from, to }: WriteRequest): Generator<Uint8Array> {
    const { bytes, view } = batch
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
