/** The rows of a part as requests: the extent of each, and its bytes. */

import { absentAt, type Batch, type Part } from './batch.ts'
import type { RequestBody } from './request-body.ts'
import type { Absent, RowFormat } from './row-format.ts'
import { RowBuffer } from './rows.ts'

/** The rows `from` to `to` of a part, as one request of `length` bytes. `rows` of them are not superseded. */
export interface WriteRequest {
  batch: Batch
  part: Part
  from: number
  to: number
  rows: number
  length: number
}

/** Takes as many rows from `from` to `end` as fit into a request, but at least one. */
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
    const added = offset < 0 ? 0 : format.lengthOf(view, offset, absentAt(batch, offset))
    if (length > 0 && length + added > bytesMax) break
    length += added
    if (added > 0) rows++
    to++
  }
  return { batch, part, from, to, rows, length }
}

/** One piece is encoded while the previous one is being sent. The connection's own buffer takes more at once. */
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
      for (; next < to; next++) {
        const offset = part.offsets[next] as number
        if (offset < 0) continue
        const absent = absentAt(batch, offset)
        if (buffer.length > pieceBytes - this.#bytesMax(view, offset, absent)) break
        buffer.add(bytes, view, offset, absent)
      }
      yield buffer.bytes.subarray(0, buffer.length)
    }
  }

  /** The number of series that a record may omit has no practical limit. */
  #bytesMax(view: DataView, offset: number, absent: Absent): number {
    return absent.length === 0 ? this.#format.bytesMax : this.#format.lengthOf(view, offset, absent)
  }
}
