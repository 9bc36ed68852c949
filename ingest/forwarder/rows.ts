/** Rows in line protocol, made from the records of a table. */

import { bug } from '../../limits/bug.ts'
import { layoutOf, offsetOf, type RecordLayout } from '../journal/record.ts'
import { binaryDouble, escapeText } from '../line-protocol.ts'
import { symbolColumns, type TableDescription } from '../table.ts'

/** What stands between symbols and time in a row with certain columns; the values are put in at their places. */
interface Template {
  bytes: Uint8Array
  /** Offset of the number of the series, -1 for a table that has no column for it. */
  seriesAt: number
  /** Index of the column, offset of its value and whether that is text, in turns. */
  places: Uint16Array
}

/** Two digits for each number below a hundred. */
const digitPairs = Buffer.from(Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0')).join(''))
const lowDigits = 100_000_000
/** From 2001 to 2286 a time has eight digits before those; any other is written as text. */
const highDigits = { min: 10_000_000, max: 99_999_999 }
const rowEnd = Buffer.from('t\n')
const timeBytesMax = '-9007199254740991'.length
/** Sixteen digits, with zeros in front: so it has a place of its own in the template. */
const timestampZero = Buffer.from('0000000000000000t')
const seriesZero = Buffer.from('00000000i')
/** One bit for each, in a mask of 32; and a template for each combination that occurs. */
const columnsMax = 16

/** How the rows of a table look. */
export class RowFormat {
  readonly layout: RecordLayout
  /** The table's name and that of its first symbol. */
  readonly head: Uint8Array
  /** What stands before each further symbol. */
  readonly symbolHeads: readonly Uint8Array[]
  /** The longest row. */
  readonly rowBytesMax: number
  readonly #table: TableDescription
  readonly #columnCount: number
  readonly #templates: (Template | undefined)[] = []

  constructor(table: TableDescription) {
    if (table.columns.length > columnsMax) throw bug(`the table ${table.name} has ${table.columns.length} columns`)
    this.layout = layoutOf(table)
    this.#table = table
    this.#columnCount = table.columns.length
    const [first = '', ...further] = symbolColumns(table).map(name => `,${escapeText(name)}=`)
    this.head = Buffer.from(`${escapeText(table.name)}${first}`)
    this.symbolHeads = further.map(text => Buffer.from(text))
    const whole = this.template(2 ** table.columns.length - 1).bytes.length
    this.rowBytesMax = this.symbolsLength(table.symbolBytesMax) + whole + timeBytesMax + rowEnd.length
  }

  /** The row's bytes up to its columns, when its symbols have so many. */
  symbolsLength(symbolBytes: number): number {
    let length = this.head.length + symbolBytes
    for (const head of this.symbolHeads) length += head.length
    return length
  }

  /** One bit for each column that the record at `valuesAt` has. */
  maskOf(view: DataView, valuesAt: number): number {
    let mask = 0
    for (let index = 0; index < this.#columnCount; index++) {
      if (!Number.isNaN(view.getFloat64(valuesAt + 8 * index, true))) mask |= 1 << index
    }
    return mask
  }

  template(mask: number): Template {
    const known = this.#templates[mask]
    if (known !== undefined) return known
    const template = createTemplate(this.#table, mask)
    this.#templates[mask] = template
    return template
  }

  /** Bytes of the row that `RowBuffer.add` makes of the record at `offset`. */
  rowLength(view: DataView, offset: number): number {
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    const { bytes } = this.template(this.maskOf(view, offset + offsetOf.values))
    const timeLength = isUsual(Math.floor(timeUs / lowDigits)) ? 16 : String(timeUs).length
    return this.symbolsLength(this.symbolBytes(view, offset)) + bytes.length + timeLength + rowEnd.length
  }

  /** Of the record at `offset`, all symbols together. */
  symbolBytes(view: DataView, offset: number): number {
    return view.getUint16(offset + offsetOf.length, true) - this.layout.lengthMin
  }
}

function createTemplate({ seriesColumn, columns }: TableDescription, mask: number): Template {
  const pieces: Uint8Array[] = []
  const places: number[] = []
  let length = 0
  let seriesAt = -1
  const put = (bytes: Uint8Array) => {
    pieces.push(bytes)
    length += bytes.length
  }
  if (seriesColumn !== undefined) {
    put(Buffer.from(` ${escapeText(seriesColumn)}=`))
    seriesAt = length
    put(seriesZero)
  }
  for (const [index, { name, type }] of columns.entries()) {
    if ((mask & (1 << index)) === 0) continue
    put(Buffer.from(length === 0 ? ' ' : ','))
    put(escapeText(name))
    put(Buffer.from(type === 'double' ? ['='.charCodeAt(0), '='.charCodeAt(0), binaryDouble] : '='))
    places.push(index, length, type === 'double' ? 0 : 1)
    put(type === 'double' ? new Uint8Array(8) : timestampZero)
  }
  put(Buffer.from(' '))
  return { bytes: Buffer.concat(pieces), seriesAt, places: Uint16Array.from(places) }
}

/**
 * Rows, put one behind the other, with the bytes that the official client would send, at about six times its rate. A row
 * begins as the frame of its shape (its columns, the length of its symbols, its time in units of 100 s), into which go
 * symbols, values and the last eight digits of the time.
 */
export class RowBuffer {
  readonly bytes: Buffer
  readonly #format: RowFormat
  readonly #view: DataView
  #length = 0
  #mask = -1
  #symbolBytes = -1
  #high = Number.NaN
  #frame: Uint8Array = new Uint8Array(0)
  #template: Template

  constructor(format: RowFormat, capacity: number) {
    this.#format = format
    this.#template = format.template(0)
    this.bytes = Buffer.allocUnsafeSlow(capacity)
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength)
  }

  get length(): number {
    return this.#length
  }

  clear(): void {
    this.#length = 0
  }

  /** Adds the record at `offset`; values that are missing are left out, and so become null. */
  add(from: Uint8Array, view: DataView, offset: number): void {
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    const symbolBytes = this.#format.symbolBytes(view, offset)
    const mask = this.#format.maskOf(view, offset + offsetOf.values)
    const high = Math.floor(timeUs / lowDigits)
    if (mask !== this.#mask || symbolBytes !== this.#symbolBytes || high !== this.#high) {
      this.#mask = mask
      this.#symbolBytes = symbolBytes
      this.#high = high
      this.#template = this.#format.template(mask)
      this.#frame = createFrame(this.#format, this.#template, symbolBytes, high)
    }
    this.bytes.set(this.#frame, this.#length)
    const at = this.#fillSymbols(this.#length + this.#format.head.length, from, offset)
    this.#fillSeries(at, view.getUint32(offset + offsetOf.series, true))
    this.#length = this.#end(this.#fillColumns(at, view, offset + offsetOf.values), timeUs, high)
  }

  #fillSymbols(start: number, from: Uint8Array, offset: number): number {
    const { bytes } = this
    const { layout, symbolHeads } = this.#format
    let at = start
    let index = offset + layout.symbolsAt
    for (let symbol = 0; ; symbol++) {
      const length = from[index++] as number
      for (const symbolEnd = index + length; index < symbolEnd; index++) bytes[at++] = from[index] as number
      const next = symbolHeads[symbol]
      if (next === undefined) return at
      bytes.set(next, at)
      at += next.length
    }
  }

  #fillSeries(at: number, series: number): void {
    const { seriesAt } = this.#template
    if (seriesAt === -1) return
    if (series >= lowDigits) throw bug(`a series has the number ${series}`)
    writeEightDigits(this.bytes, at + seriesAt, series)
  }

  #fillColumns(at: number, view: DataView, valuesAt: number): number {
    const { bytes, places } = this.#template
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

function isUsual(high: number): boolean {
  return high >= highDigits.min && high <= highDigits.max
}

/** What rows of one shape have in common, at its place; the rest is zeros. */
function createFrame(format: RowFormat, { bytes }: Template, symbolBytes: number, high: number): Uint8Array {
  const time = isUsual(high) ? Buffer.from(`${high}00000000`) : Buffer.alloc(0)
  const symbols = Buffer.alloc(format.symbolsLength(symbolBytes) - format.head.length)
  return Buffer.concat([format.head, symbols, bytes, time, rowEnd])
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
