/** Rows of a round: where their records stand, which of them are overtaken, and their bytes for QuestDB. */

import { metrics, readingsTable } from '../../store/tables.ts'
import { flagBackfill, offsetOf } from '../journal/record.ts'
import { encodeName, LineProtocolBuffer } from './line-protocol.ts'

/** The longest row: names, a symbol of 64 characters, five doubles and a time. */
export const rowBytesMax = 320

/** What stands between symbol and time in a row with certain metrics; the doubles are put in at their places. */
interface Template {
  bytes: Uint8Array
  /** Index of the metric and offset of its double, in turns. */
  places: Uint8Array
}

const head = Buffer.from(`${readingsTable},device=`)
const columnNames = metrics.map(encodeName)
const templates = Array.from({ length: 2 ** metrics.length }, (_, mask) => createTemplate(mask))

/** Made by the general encoder, so that the bytes are its bytes. */
function createTemplate(mask: number): Template {
  const buffer = new LineProtocolBuffer(rowBytesMax)
  const places: number[] = []
  for (const [index, name] of columnNames.entries()) {
    if ((mask & (1 << index)) === 0) continue
    buffer.double(name, 0)
    places.push(index, buffer.length - 8)
  }
  const columns = buffer.bytes.subarray(0, buffer.length)
  return { bytes: Buffer.concat([columns, Buffer.from(' ')]), places: Uint8Array.from(places) }
}

/** Two digits for each number below a hundred. */
const digitPairs = Buffer.from(Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0')).join(''))
const lowDigits = 100_000_000
/** From 2001 to 2286 a time has eight digits before those; any other is written as text. */
const highDigits = { min: 10_000_000, max: 99_999_999 }
const rowEnd = Buffer.from('t\n')

/**
 * Rows of readings, put one behind the other, byte for byte as the general encoder would. A row begins as the frame of its
 * shape (its metrics, the length of its symbol, its time in units of 100 s), into which go symbol, doubles and the last
 * eight digits of the time.
 */
export class ReadingRows {
  readonly bytes: Buffer
  readonly #view: DataView
  #length = 0
  #mask = -1
  #symbolLength = -1
  #high = Number.NaN
  #frame: Uint8Array = new Uint8Array(0)

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacity)
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength)
  }

  get length(): number {
    return this.#length
  }

  clear(): void {
    this.#length = 0
  }

  /** Adds the record at `offset`; metrics that the device did not give are left out, and so become null. */
  add(from: Uint8Array, view: DataView, offset: number): void {
    const { bytes } = this
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    const symbolLength = from[offset + offsetOf.symbolLength] as number
    const mask = maskOf(view, offset + offsetOf.values)
    const high = Math.floor(timeUs / lowDigits)
    if (mask !== this.#mask || symbolLength !== this.#symbolLength || high !== this.#high) {
      this.#mask = mask
      this.#symbolLength = symbolLength
      this.#high = high
      this.#frame = createFrame(mask, symbolLength, high)
    }
    bytes.set(this.#frame, this.#length)
    let at = this.#length + head.length
    const symbolEnd = offset + offsetOf.symbol + symbolLength
    for (let index = offset + offsetOf.symbol; index < symbolEnd; index++) bytes[at++] = from[index] as number
    at = this.#fillColumns(at, view, offset + offsetOf.values)
    this.#length = this.#finish(at, timeUs, high)
  }

  #fillColumns(at: number, view: DataView, valuesAt: number): number {
    const { bytes, places } = templates[this.#mask] as Template
    for (let index = 0; index < places.length; index += 2) {
      const value = view.getFloat64(valuesAt + 8 * (places[index] as number), true)
      this.#view.setFloat64(at + (places[index + 1] as number), value, true)
    }
    return at + bytes.length
  }

  #finish(at: number, timeUs: number, high: number): number {
    if (isUsual(high)) {
      writeEightDigits(this.bytes, at + 8, timeUs - high * lowDigits)
      return at + 16 + rowEnd.length
    }
    const timeEnd = at + this.bytes.write(String(timeUs), at, 'latin1')
    this.bytes.set(rowEnd, timeEnd)
    return timeEnd + rowEnd.length
  }
}

/** Bytes of the row that `add` makes of the record at `offset`. */
export function rowLength(from: Uint8Array, view: DataView, offset: number): number {
  const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
  const symbolLength = from[offset + offsetOf.symbolLength] as number
  const { bytes } = templates[maskOf(view, offset + offsetOf.values)] as Template
  const timeLength = isUsual(Math.floor(timeUs / lowDigits)) ? 16 : String(timeUs).length
  return head.length + symbolLength + bytes.length + timeLength + rowEnd.length
}

function isUsual(high: number): boolean {
  return high >= highDigits.min && high <= highDigits.max
}

/** What rows of one shape have in common, at its place; the rest is zeros. */
function createFrame(mask: number, symbolLength: number, high: number): Uint8Array {
  const { bytes } = templates[mask] as Template
  const time = isUsual(high) ? Buffer.from(`${high}00000000`) : Buffer.alloc(0)
  return Buffer.concat([head, Buffer.alloc(symbolLength), bytes, time, rowEnd])
}

/** One bit for each metric that the record has. */
function maskOf(view: DataView, valuesAt: number): number {
  let mask = 0
  for (let index = 0; index < metrics.length; index++) {
    if (!Number.isNaN(view.getFloat64(valuesAt + 8 * index, true))) mask |= 1 << index
  }
  return mask
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

export function isBackfill(view: DataView, offset: number): boolean {
  return (view.getUint8(offset + offsetOf.flags) & flagBackfill) !== 0
}

/**
 * Finds rows with the same device and time. The last write wins in QuestDB, so of several such rows only the last by
 * journal position is sent.
 */
export class KeyTable {
  #slots: Int32Array
  #mask: number

  constructor(rowsMax: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, rowsMax * 2)))
    this.#slots = new Int32Array(size).fill(-1)
    this.#mask = size - 1
  }

  clear(): void {
    this.#slots.fill(-1)
  }

  /**
   * Remembers that row `index` has the key of `offsets[index]` and returns the row that had it before, or -1.
   */
  put(view: DataView, offsets: Int32Array, index: number): number {
    const offset = offsets[index] as number
    const device = view.getUint32(offset + offsetOf.deviceNumber, true)
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    let slot = hash(device, timeUs) & this.#mask
    for (;;) {
      const other = this.#slots[slot] as number
      if (other === -1) break
      const otherOffset = offsets[other] as number
      const same =
        view.getFloat64(otherOffset + offsetOf.timeUs, true) === timeUs &&
        view.getUint32(otherOffset + offsetOf.deviceNumber, true) === device
      if (same) {
        this.#slots[slot] = index
        return other
      }
      slot = (slot + 1) & this.#mask
    }
    this.#slots[slot] = index
    return -1
  }
}

function hash(device: number, timeUs: number): number {
  const mixed = Math.imul(device, 0x9e37_79b1) ^ Math.imul((timeUs % 4_294_967_296) | 0, 0x85eb_ca6b)
  return mixed ^ (mixed >>> 15)
}
