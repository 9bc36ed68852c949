/**
 * NDJSON: one JSON object a line, with the field names of the API or of the CSV header. An object with only our
 * columns is read from its bytes in place: plain numbers, texts without escapes and null. JSON.parse reads everything
 * else and takes almost twice as long for a line.
 */

import { ReadTime, readIsoTime } from '../../store/time-text.ts'
import type { Fields } from '../field-names.ts'
import { earliestTimeMs } from '../reading.ts'
import type { KnownNames } from './known-names.ts'
import type { LineReader } from './lines.ts'
import { TextCache } from './name-index.ts'
import { exactDigits, powersOfTen } from './number.ts'
import type { Column } from './row-kind.ts'

/** `names`: the known names, for rows with one text column that holds their name. */
export function createNdjsonReader(columns: readonly Column[], names?: KnownNames): LineReader {
  const flat = new FlatObjectReader(columns, names)
  const readLine: LineReader = (chunk, start, end) => {
    const fields = flat.read(chunk, start, end)
    readLine.hasOthers = fields === undefined
    readLine.knownName = fields === undefined ? -1 : flat.knownName
    return fields ?? readObject(chunk.toString('utf8', start, end)) ?? 'is not a JSON object'
  }
  return readLine
}

function readObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const quote = 0x22
const backslash = 0x5c
const brace = { open: 0x7b, close: 0x7d }
const colon = 0x3a
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const space = 0x20
const nullBytes = Buffer.from('null')

export class FlatObjectReader {
  readonly #columns: readonly Column[]
  readonly #names: readonly Buffer[]
  readonly #fields: Fields
  readonly #texts = new TextCache()
  readonly #knownNames: KnownNames | undefined
  /** Number of the last object's name; -1 for an unknown name. */
  knownName = -1
  readonly #utcTime = new ReadTime()
  #source: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0

  /** `names`: the known names, for rows with one text column that holds their name. */
  constructor(columns: readonly Column[], names?: KnownNames) {
    this.#columns = columns
    this.#knownNames = names
    this.#names = columns.map(({ name }) => Buffer.from(`"${name}"`))
    this.#fields = Object.fromEntries(columns.map(({ name }) => [name, undefined]))
  }

  /** Undefined for other objects and for invalid JSON. The next call returns the same fields. */
  read(source: Buffer, start: number, end: number): Fields | undefined {
    this.#source = source
    this.#at = start
    this.#end = end
    this.knownName = -1
    if (!this.#take(brace.open)) return undefined
    for (const { name } of this.#columns) this.#fields[name] = undefined
    for (let member = 0; member < this.#columns.length; member++) {
      if (!this.#readMember(member)) return undefined
      if (this.#take(comma)) continue
      return this.#take(brace.close) && this.#next() === end ? this.#fields : undefined
    }
    return undefined
  }

  #readMember(member: number): boolean {
    const column = this.#columns[this.#columnOf(member)]
    if (column === undefined || !this.#take(colon)) return false
    // The last one of duplicate members counts.
    if (column.cell === 'text') this.knownName = -1
    const value = this.#readValue(column)
    this.#fields[column.name] = value
    return value !== undefined
  }

  /** Most objects name their members in the order of the columns. */
  #columnOf(member: number): number {
    this.#next()
    for (let step = 0; step < this.#names.length; step++) {
      const column = (member + step) % this.#names.length
      if (this.#takeBytes(this.#names[column] as Buffer)) return column
    }
    return -1
  }

  #readValue({ cell }: Column): unknown {
    this.#next()
    switch (this.#source[this.#at]) {
      case quote:
        return this.#readText(cell)
      case nullBytes[0]:
        return this.#takeBytes(nullBytes) ? null : undefined
      default:
        return this.#readNumber()
    }
  }

  #readText(cell: Column['cell']): unknown {
    const source = this.#source
    const start = this.#at + 1
    let end = start
    for (; end < this.#end && source[end] !== quote; end++) {
      const byte = source[end] as number
      if (byte === backslash || byte < space) return undefined
    }
    if (end === this.#end) return undefined
    this.#at = end + 1
    if (cell === 'text') return this.#readName(start, end)
    return this.#readTime(cell, start, end) ?? source.toString('utf8', start, end)
  }

  #readName(start: number, end: number): string {
    this.knownName = this.#knownNames?.find(this.#source, start, end) ?? -1
    if (this.knownName !== -1) return this.#knownNames?.text(this.knownName) ?? ''
    return this.#texts.read(this.#source, start, end)
  }

  #readTime(cell: Column['cell'], start: number, end: number): number | ReadTime | undefined {
    if (cell === 'time') {
      const timeMs = readIsoTime(this.#source, start, end)
      // A number this small would be read as seconds, so times in early 1970 stay texts.
      return timeMs >= earliestTimeMs ? timeMs : undefined
    }
    if (cell !== 'utc time') return undefined
    this.#utcTime.ms = readIsoTime(this.#source, start, end, 'or without zone')
    return Number.isNaN(this.#utcTime.ms) ? undefined : this.#utcTime
  }

  /** Digits with an optional point, in JSON's syntax. */
  #readNumber(): number | undefined {
    const source = this.#source
    const isNegative = source[this.#at] === minus
    const start = isNegative ? this.#at + 1 : this.#at
    const pointAt = this.#digitsFrom(start)
    const hasFraction = source[pointAt] === point
    const end = hasFraction ? this.#digitsFrom(pointAt + 1) : pointAt
    const fractionDigits = hasFraction ? end - pointAt - 1 : 0
    if (pointAt === start || (hasFraction && fractionDigits === 0) || end - start > exactDigits) return undefined
    if (source[start] === zero && pointAt > start + 1) return undefined
    let mantissa = 0
    for (let at = start; at < end; at++) if (at !== pointAt) mantissa = mantissa * 10 + ((source[at] as number) - zero)
    this.#at = end
    const magnitude = mantissa / (powersOfTen[fractionDigits] as number)
    return isNegative ? -magnitude : magnitude
  }

  #digitsFrom(start: number): number {
    let at = start
    for (; at < this.#end; at++) {
      const byte = this.#source[at] as number
      if (byte < zero || byte > nine) break
    }
    return at
  }

  /** Skips white space. */
  #next(): number {
    for (; this.#at < this.#end; this.#at++) {
      const byte = this.#source[this.#at]
      if (byte !== space && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) break
    }
    return this.#at
  }

  #take(byte: number): boolean {
    if (this.#next() === this.#end || this.#source[this.#at] !== byte) return false
    this.#at++
    return true
  }

  #takeBytes(bytes: Buffer): boolean {
    if (this.#at + bytes.length > this.#end) return false
    for (let index = 0; index < bytes.length; index++) {
      if (this.#source[this.#at + index] !== bytes[index]) return false
    }
    this.#at += bytes.length
    return true
  }
}
