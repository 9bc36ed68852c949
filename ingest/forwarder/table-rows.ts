/** How the rows of one table look in line protocol: their text but for the values. */

import { bug } from '../../store/limits/bug.ts'
import { layoutOf } from '../journal/record.ts'
import { binaryDouble, escapeText } from '../line-protocol.ts'
import { symbolColumns, type TableDescription } from '../table.ts'

/** What stands between symbols and time in a row with certain columns; the values are put in at their places. */
export interface Template {
  bytes: Uint8Array
  /** Offset of the number of the series, -1 for a table that has no column for it. */
  seriesAt: number
  /** Index of the column, offset of its value and whether that is text, in turns. */
  places: Uint16Array
}

/** The digits of a time that change from row to row. */
export const lowDigits = 100_000_000
/** From 2001 to 2286 a time has eight digits before those; any other is written as text. */
const highDigits = { min: 10_000_000, max: 99_999_999 }
export const rowEnd = Buffer.from('t\n')
const timeBytesMax = '-9007199254740991'.length
/** Sixteen digits, with zeros in front: so it has a place of its own in the template. */
const timestampZero = Buffer.from('0000000000000000t')
const seriesZero = Buffer.from('00000000i')
/** One bit for each, in a mask of 32; and a template for each combination that occurs. */
const columnsMax = 16

/** How the rows of one table look. */
export class TableRows {
  readonly symbolsAt: number
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
    this.symbolsAt = layoutOf(table).symbolsAt
    this.#table = table
    this.#columnCount = table.columns.length
    const [first = '', ...custom] = symbolColumns(table).map(name => `,${escapeText(name)}=`)
    this.head = Buffer.from(`${escapeText(table.name)}${first}`)
    this.symbolHeads = custom.map(text => Buffer.from(text))
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

  /** Bytes of a row with the columns of the mask and a time of `timeLength` digits. */
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
 * The frame of the rows of a table that came last; most are like the one before, or differ from it in the length of their
 * symbols alone, by which frames are kept.
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

/** Whether a time with these digits in front has sixteen in all. */
export function isUsual(high: number): boolean {
  return high >= highDigits.min && high <= highDigits.max
}

/** What rows of one shape have in common, at its place; the rest is zeros. */
function createFrame(rows: TableRows, { bytes }: Template, symbolBytes: number, high: number): Uint8Array {
  const time = isUsual(high) ? Buffer.from(`${high}00000000`) : Buffer.alloc(0)
  const symbols = Buffer.alloc(rows.symbolsLength(symbolBytes) - rows.head.length)
  return Buffer.concat([rows.head, symbols, bytes, time, rowEnd])
}
