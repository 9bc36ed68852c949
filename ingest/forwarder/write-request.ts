/** The rows of a part as requests: the extent of each, and its bytes. */

import { bug } from '../../store/limits/bug.ts'
import { customAt, customCount, offsetInCustom, offsetOf } from '../journal/record.ts'
import { absentAt, type Batch, type Part } from './batch.ts'
import { type Absent, isUsual, LastFrame, lowDigits, type RowFormat, rowEnd, type Template } from './row-format.ts'

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

/** An encoder serves one connection, which has one request in flight at a time. */
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

/** Two digits for each number below a hundred. */
const digitPairs = Buffer.from(Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0')).join(''))

/**
 * Consecutive rows with the same bytes as the official client, at about six times its rate. A row begins as the frame of its
 * shape: columns, length of symbols, time in units of 100 s. Symbols, values and the last eight digits of the time are inserted
 * into it.
 */
export class RowBuffer {
  readonly bytes: Buffer
  readonly #format: RowFormat
  readonly #view: DataView
  readonly #frame: LastFrame
  readonly #customFrame: LastFrame
  /** Frame of rows without a value. */
  readonly #absentFrame: LastFrame
  #length = 0

  constructor(format: RowFormat, capacity: number) {
    this.#format = format
    this.#frame = new LastFrame(format.rows)
    this.#customFrame = new LastFrame(format.custom ?? format.rows)
    this.#absentFrame = new LastFrame(format.custom ?? format.rows)
    this.bytes = Buffer.allocUnsafeSlow(capacity)
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength)
  }

  get length(): number {
    return this.#length
  }

  clear(): void {
    this.#length = 0
  }

  /** Adds the rows of the record at `offset`. Missing values are omitted, and so become null. */
  add(from: Uint8Array, view: DataView, offset: number, absent: Absent): void {
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    const frame = this.#frame
    const valuesAt = offset + offsetOf.values
    const mask = frame.rows.maskOf(view, valuesAt)
    const high = Math.floor(timeUs / lowDigits)
    frame.choose(mask, this.#format.symbolBytes(view, offset), high)
    this.bytes.set(frame.bytes, this.#length)
    const at = this.#fillSymbols(this.#length + frame.rows.head.length, from, offset)
    this.#fillSeries(frame.template, at, view.getUint32(offset + offsetOf.series, true))
    this.#length = this.#end(this.#fillColumns(frame.template, at, view, valuesAt), timeUs, high)
    const count = customCount(view, offset)
    if (count > 0) this.#addCustom(view, customAt(view, offset, count), count, timeUs, high)
    for (let index = 0; index < absent.length; index++) this.#addAbsent(absent[index] as number, timeUs, high)
  }

  #addCustom(view: DataView, firstAt: number, count: number, timeUs: number, high: number): void {
    const frame = this.#customFrame
    for (let index = 0; index < count; index++) {
      const customAt = firstAt + index * offsetInCustom.next
      const valueAt = customAt + offsetInCustom.value
      frame.choose(frame.rows.maskOf(view, valueAt), 0, high)
      this.bytes.set(frame.bytes, this.#length)
      const at = this.#length + frame.rows.head.length
      this.#fillSeries(frame.template, at, view.getUint32(customAt + offsetInCustom.series, true))
      this.#length = this.#end(this.#fillColumns(frame.template, at, view, valueAt), timeUs, high)
    }
  }

  #addAbsent(series: number, timeUs: number, high: number): void {
    const frame = this.#absentFrame
    frame.choose(0, 0, high)
    this.bytes.set(frame.bytes, this.#length)
    const at = this.#length + frame.rows.head.length
    this.#fillSeries(frame.template, at, series)
    this.#length = this.#end(at + frame.template.bytes.length, timeUs, high)
  }

  #fillSymbols(start: number, from: Uint8Array, offset: number): number {
    const { bytes } = this
    const { symbolsAt, symbolHeads } = this.#format.rows
    let at = start
    let index = offset + symbolsAt
    for (let symbol = 0; ; symbol++) {
      const length = from[index++] as number
      for (const symbolEnd = index + length; index < symbolEnd; index++) bytes[at++] = from[index] as number
      const next = symbolHeads[symbol]
      if (next === undefined) return at
      bytes.set(next, at)
      at += next.length
    }
  }

  #fillSeries({ seriesAt }: Template, at: number, series: number): void {
    if (seriesAt === -1) return
    if (series >= lowDigits) throw bug(`a series has the number ${series}`)
    writeEightDigits(this.bytes, at + seriesAt, series)
  }

  #fillColumns({ bytes, places }: Template, at: number, view: DataView, valuesAt: number): number {
    for (let index = 0; index < places.length; index += 3) {
      const value = view.getFloat64(valuesAt + 8 * (places[index] as number), true)
      const place = at + (places[index + 1] as number)
      if (places[index + 2] === 0) this.#view.setFloat64(place, value, true)
      else this.#fillTimestamp(place, value)
    }
    return at + bytes.length
  }

  #fillTimestamp(at: number, timeUs: number): void {
    if (!(timeUs >= 0 && timeUs <= Number.MAX_SAFE_INTEGER))
      throw bug(`a record has ${timeUs} in a column for timestamps`)
    const high = Math.floor(timeUs / lowDigits)
    writeEightDigits(this.bytes, at, high)
    writeEightDigits(this.bytes, at + 8, timeUs - high * lowDigits)
  }

  #end(at: number, timeUs: number, high: number): number {
    if (isUsual(high)) {
      writeEightDigits(this.bytes, at + 8, timeUs - high * lowDigits)
      return at + 16 + rowEnd.length
    }
    const timeEnd = at + this.bytes.write(String(timeUs), at, 'latin1')
    this.bytes.set(rowEnd, timeEnd)
    return timeEnd + rowEnd.length
  }
}

function writeEightDigits(bytes: Uint8Array, at: number, value: number): void {
  const upper = (value / 10_000) | 0
  const lower = value - upper * 10_000
  writePair(bytes, at, (upper / 100) | 0)
  writePair(bytes, at + 2, upper % 100)
  writePair(bytes, at + 4, (lower / 100) | 0)
  writePair(bytes, at + 6, lower % 100)
}

function writePair(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = digitPairs[2 * value] as number
  bytes[at + 1] = digitPairs[2 * value + 1] as number
}

/** The bytes of a request to QuestDB. Large requests are encoded while they are sent, and so take little memory. */
/** The bytes of a request. Large requests are encoded while they are sent, so they take little memory. */
export interface RequestBody {
  readonly length: number
  /** Iterates from the start at each call. A piece stays valid until the piece after the next is requested. */
  pieces(): Iterable<Uint8Array>
}
