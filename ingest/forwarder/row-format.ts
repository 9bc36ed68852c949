/** The rows of records, and their length in line protocol. */

import { bug } from '../../store/limits/bug.ts'
import {
  binaryDouble,
  customAt,
  customCount,
  customLength,
  escapeText,
  layoutOf,
  offsetInCustom,
  offsetOf,
} from '../journal/record.ts'
import { type CustomTable, symbolColumns, type TableDescription } from '../table.ts'

/** The format of a record's rows: one in the table, and one in the custom table for each custom value. */
export class RowFormat {
  readonly rows: TableRows
  readonly custom: TableRows | undefined
  /** Maximum length of a record's rows. */
  readonly bytesMax: number
  readonly #lengthMin: number

  constructor(table: TableDescription) {
    this.rows = new TableRows(table)
    this.#lengthMin = layoutOf(table).lengthMin
    this.custom = table.custom === undefined ? undefined : new TableRows(customRows(table.custom))
    // A record has values of some of its device's series and omits the others.
    const customBytesMax = (table.custom?.valuesMax ?? 0) * (this.custom?.rowBytesMax ?? 0)
    this.bytesMax = this.rows.rowBytesMax + customBytesMax
  }

  /** Length of the rows that `RowBuffer.add` creates for the record at `offset`. */
  lengthOf(view: DataView, offset: number, absent: Absent): number {
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    const timeLength = isUsual(Math.floor(timeUs / lowDigits)) ? 16 : String(timeUs).length
    const mask = this.rows.maskOf(view, offset + offsetOf.values)
    const length = this.rows.rowLength(this.symbolBytes(view, offset), mask, timeLength)
    const count = customCount(view, offset)
    return length + (count + absent.length === 0 ? 0 : this.#customLength(view, offset, count, absent, timeLength))
  }

  #customLength(view: DataView, offset: number, count: number, absent: Absent, timeLength: number): number {
    const rows = customRowsOf(this)
    let length = absent.length * rows.rowLength(0, 0, timeLength)
    const valuesAt = customAt(view, offset, count) + offsetInCustom.value
    for (let index = 0; index < count; index++) {
      length += rows.rowLength(0, rows.maskOf(view, valuesAt + index * offsetInCustom.next), timeLength)
    }
    return length
  }

  /** Total length of the symbols of the record at `offset`. */
  symbolBytes(view: DataView, offset: number): number {
    const length = view.getUint16(offset + offsetOf.length, true)
    return length - this.#lengthMin - customLength(customCount(view, offset))
  }
}

/**
 * Numbers of series that get an empty row at the time of a record, because it replaces another one that may have values of them.
 */
export type Absent = readonly number[]
export const noneAbsent: Absent = []

function customRows({ name, timestamp, seriesColumn, valueColumn }: CustomTable): TableDescription {
  const columns = [{ name: valueColumn, type: 'double' }] as const
  return { name, timestamp, key: [], seriesColumn, labels: [], columns, recordKind: 0, symbolBytesMax: 0 }
}

function customRowsOf({ custom }: RowFormat): TableRows {
  if (custom === undefined) throw bug('a record has custom values, and its table has no room for them')
  return custom
}

/** The bytes between symbols and time of a row with certain columns. The values are inserted at their places. */
export interface Template {
  bytes: Uint8Array
  /** Offset of the number of the series; -1 for a table without such a column. */
  seriesAt: number
  /** Triples: index of the column, offset of its value, and 1 for a text. */
  places: Uint16Array
}

/** The digits of a time that change from row to row. */
export const lowDigits = 100_000_000
/** A time from 2001 to 2286 has eight digits before those. Other times are written as text. */
const highDigits = { min: 10_000_000, max: 99_999_999 }
export const rowEnd = Buffer.from('t\n')
const timeBytesMax = '-9007199254740991'.length
/** Sixteen digits with leading zeros, so that it has a fixed place in the template. */
const timestampZero = Buffer.from('0000000000000000t')
const seriesZero = Buffer.from('00000000i')
/** One bit for each, in a mask of 32; and a template for each combination that occurs. */
const columnsMax = 16

/** The rows of one table. */
class TableRows {
  readonly symbolsAt: number
  /** The table's name, with the name of its first symbol. */
  readonly head: Uint8Array
  /** Bytes before each further symbol. */
  readonly symbolHeads: readonly Uint8Array[]
  /** Maximum length of a row. */
  readonly rowBytesMax: number
  readonly #table: TableDescription
  readonly #columnCount: number
  readonly #templates: (Template | undefined)[] = []

  constructor(table: TableDescription) {
    if (table.columns.length > columnsMax) throw bug(`the table ${table.name} has ${table.columns.length} columns`)
    this.symbolsAt = layoutOf(table).symbolsAt
    this.#table = table
    this.#columnCount = table.columns.length
    const [first = '', ...custom] = symbolColumns(table).map(name => `,${escapeText(name)}=`)
    this.head = Buffer.from(`${escapeText(table.name)}${first}`)
    this.symbolHeads = custom.map(text => Buffer.from(text))
    const whole = this.template(2 ** table.columns.length - 1).bytes.length
    this.rowBytesMax = this.symbolsLength(table.symbolBytesMax) + whole + timeBytesMax + rowEnd.length
  }

  /** Length of a row up to its columns, with symbols of this length. */
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

  /** Length of a row with the columns of the mask and a time of `timeLength` digits. */
  rowLength(symbolBytes: number, mask: number, timeLength: number): number {
    return this.symbolsLength(symbolBytes) + this.template(mask).bytes.length + timeLength + rowEnd.length
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
 * The last frame of a table's rows. Most rows match the previous one, or differ only in the length of their symbols, by which
 * frames are kept.
 */
export class LastFrame {
  readonly rows: TableRows
  template: Template
  bytes: Uint8Array = new Uint8Array(0)
  #mask = -1
  #symbolBytes = -1
  #high = Number.NaN
  #bySymbolBytes: (Uint8Array | undefined)[] = []

  constructor(rows: TableRows) {
    this.rows = rows
    this.template = rows.template(0)
  }

  choose(mask: number, symbolBytes: number, high: number): void {
    if (mask === this.#mask && symbolBytes === this.#symbolBytes && high === this.#high) return
    if (mask !== this.#mask || high !== this.#high) {
      this.#mask = mask
      this.#high = high
      this.template = this.rows.template(mask)
      this.#bySymbolBytes = []
    }
    this.#symbolBytes = symbolBytes
    this.bytes = this.#bySymbolBytes[symbolBytes] ??= createFrame(this.rows, this.template, symbolBytes, high)
  }
}

/** True when a time with these leading digits has sixteen digits. */
export function isUsual(high: number): boolean {
  return high >= highDigits.min && high <= highDigits.max
}

/** Common bytes of rows of one shape, at their places. The rest is zeros. */
function createFrame(rows: TableRows, { bytes }: Template, symbolBytes: number, high: number): Uint8Array {
  const time = isUsual(high) ? Buffer.from(`${high}00000000`) : Buffer.alloc(0)
  const symbols = Buffer.alloc(rows.symbolsLength(symbolBytes) - rows.head.length)
  return Buffer.concat([rows.head, symbols, bytes, time, rowEnd])
}
