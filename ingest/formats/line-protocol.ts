/**
 * InfluxDB's line protocol: `measurement,tag=value field=1,field=2i timestamp`. A body is read in one pass over its bytes.
 *
 * Lines with the same device and time become one row, field by field, because many senders write one field a line.
 */

import { metrics } from '../../store/tables.ts'
import { type Range, type Ranges, rangeReason, storedValue, timeReason } from '../reading.ts'
import type { FieldTable, LineNames } from './line-protocol-names.ts'
import { type Problem, SeriesReader } from './line-protocol-series.ts'
import { byteOf, lineEnd, nameEnd, seriesEnd, stringEnd, unescapeText } from './line-protocol-text.ts'
import { type Precision, readTimestamp } from './line-protocol-time.ts'
import { MergedRows } from './merged-rows.ts'
import { exactDigits, powersOfTen, readNumber } from './number.ts'
import { readingRows } from './reading-rows.ts'
import { type Reject, RejectList } from './reject.ts'
import type { Rows } from './rows.ts'

export interface LineProtocolOptions {
  names: LineNames
  precision: Precision
  ranges: Ranges
  nowMs: number
  /** How far a timestamp may lie ahead of the server's clock. */
  aheadMsMax: number
  /** Whose readings are in lines that name no device. */
  deviceDefault: string | undefined
  /** How many rejects to list; the others are only counted. */
  rejectsMax: number
}

export interface LineProtocolResult {
  /** Lines with a point, also those that were refused. */
  points: number
  rows: Rows
  /** The distinct devices of the rows. */
  names: string[]
  /** How many lines of each device are in the rows. */
  lineCounts: number[]
  rejects: Reject[]
  rejected: number
  /** There were more than `rowsMax` rows: what follows them was not read. */
  isTooLong: boolean
}

/** Instead of the time in a row whose lines have none. No reading is as old. */
export const receiptTimeMs = 0

const lineBytesMax = 1 << 16
const fieldsMax = 1024
/** Some clients write doubles without an exponent: the smallest ones have some 340 digits then. */
const numberBytesMax = 400
const rowsMax = 1_000_000
const nameCharactersMax = 64
const lineBytesUsual = 64

export function readLineProtocol(body: Buffer, options: LineProtocolOptions): LineProtocolResult {
  const reader = new BodyReader(body, options)
  while (reader.readLine());
  return reader.result()
}

/** A field as it was in the line before at the same place: most lines have the same fields in the same order. */
interface KnownField {
  table: FieldTable
  /** As it stands in the body, with the equals sign. */
  name: Buffer
  metric: number
}

const noMetric = -1

class BodyReader {
  readonly #bytes: Buffer
  readonly #options: LineProtocolOptions
  readonly #ranges: Range[]
  readonly #series: SeriesReader
  readonly #rejects: RejectList
  readonly #rows: MergedRows
  readonly #known: KnownField[] = []
  readonly #lineCounts: number[] = []
  /** The metrics of the line at hand. */
  readonly #values = new Float64Array(readingRows.valuesPerRow)
  #hasMetric = false
  #timeMs = receiptTimeMs
  #at = 0
  #line = 0
  #points = 0

  constructor(body: Buffer, options: LineProtocolOptions) {
    this.#bytes = body
    this.#options = options
    this.#ranges = metrics.map(metric => options.ranges[metric])
    const linesExpected = linesExpectedIn(body)
    this.#series = new SeriesReader(body, linesExpected, options)
    this.#rows = new MergedRows(linesExpected)
    this.#rejects = new RejectList(readingRows.subject, options.rejectsMax)
  }

  result(): LineProtocolResult {
    return {
      points: this.#points,
      rows: this.#rows.take(),
      names: this.#series.deviceNames,
      lineCounts: this.#lineCounts,
      rejects: this.#rejects.listed,
      rejected: this.#rejects.count,
      isTooLong: this.#isTooLong(),
    }
  }

  #isTooLong(): boolean {
    return this.#rows.count >= rowsMax && this.#at < this.#bytes.length
  }

  /** False when there is none. */
  readLine(): boolean {
    const bytes = this.#bytes
    let at = this.#at
    if (at >= bytes.length || this.#isTooLong()) return false
    this.#line++
    while (isBlank(bytes[at])) at++
    if (bytes[at] === byteOf.lineFeed || at === bytes.length) this.#at = at
    else if (bytes[at] === byteOf.hash) this.#at = endOfComment(bytes, at)
    else this.#readPoint(at)
    // Behind the line feed.
    this.#at++
    return true
  }

  #readPoint(start: number): void {
    this.#points++
    const line = this.#line
    const device = this.#scanPoint(start)
    if (typeof device !== 'number') this.#skipRest()
    const isLong = this.#at - start > lineBytesMax
    if (isLong) this.#rejects.add(line, undefined, 'LINE_TOO_LONG', `is longer than ${lineBytesMax} bytes`)
    else if (typeof device !== 'number') this.#rejects.add(line, undefined, device.code, device.reason)
    else if (this.#hasMetric) this.#put(line, device)
  }

  #put(line: number, device: number): void {
    this.#rows.put(line, device, this.#timeMs, this.#values)
    this.#lineCounts[device] = (this.#lineCounts[device] ?? 0) + 1
  }

  /** Of a line with a problem. */
  #skipRest(): void {
    const start = this.#at
    this.#at = lineEnd(this.#bytes, start)
    this.#countLines(start, this.#at)
  }

  /** The device, with the metrics and the time in their places. Ends at the line feed, after a problem before it. */
  #scanPoint(start: number): number | Problem {
    const bytes = this.#bytes
    this.#at = seriesEnd(bytes, start)
    if (this.#at === bytes.length || bytes[this.#at] !== byteOf.space) return malformed('has no fields')
    const { device, fields, problem } = this.#series.read(start, this.#at)
    if (problem !== undefined) return problem
    return this.#scanFields(fields) ?? this.#scanTime() ?? device
  }

  #scanFields(table: FieldTable): Problem | undefined {
    const bytes = this.#bytes
    this.#values.fill(Number.NaN)
    this.#hasMetric = false
    this.#skipSpaces()
    for (let place = 0; place < fieldsMax; place++) {
      const problem = this.#scanField(place, table)
      if (problem !== undefined) return problem
      if (this.#at === bytes.length || bytes[this.#at] !== byteOf.comma) return undefined
      this.#at++
    }
    return malformed(`has more than ${fieldsMax} fields`)
  }

  /** Ends behind the value. */
  #scanField(place: number, table: FieldTable): Problem | undefined {
    const nameAt = this.#at
    let known = this.#known[place]
    if (known === undefined || known.table !== table || !this.#startsWith(known.name)) {
      this.#at = nameEnd(this.#bytes, nameAt, this.#bytes.length)
      if (this.#at === nameAt || this.#bytes[this.#at] !== byteOf.equals) {
        return malformed('has a field without a name or a value')
      }
      const metric = table.get(unescapeText(this.#bytes, nameAt, this.#at, 'name')) ?? noMetric
      known = { table, name: this.#bytes.subarray(nameAt, this.#at + 1), metric }
      this.#known[place] = known
    }
    this.#at = nameAt + known.name.length
    if (known.metric === noMetric) return this.#skipValue(known)
    const value = this.#scanNumber()
    if (Number.isNaN(value)) return this.#valueProblem(known)
    const range = this.#ranges[known.metric] as Range
    const stored = storedValue(value, range)
    if (Number.isNaN(stored)) return invalid(`${metrics[known.metric]} ${rangeReason(range)}`)
    this.#values[known.metric] = stored
    this.#hasMetric = true
    return undefined
  }

  #startsWith(name: Buffer): boolean {
    const bytes = this.#bytes
    const start = this.#at
    const { length } = name
    if (start + length > bytes.length) return false
    for (let at = 0; at < length; at++) if (bytes[start + at] !== name[at]) return false
    return true
  }

  /** A number of few digits is read and found to end in one pass. Ends behind it; NaN, there or before, for no number. */
  #scanNumber(): number {
    const bytes = this.#bytes
    const { length } = bytes
    const start = this.#at
    const isNegative = bytes[start] === byteOf.minus
    let at = isNegative ? start + 1 : start
    const digitsAt = at
    let mantissa = 0
    let pointAt = -1
    for (; at < length; at++) {
      const byte = bytes[at] as number
      if (byte >= zero && byte <= nine) mantissa = mantissa * 10 + (byte - zero)
      else if (byte === point && pointAt === -1) pointAt = at
      else break
    }
    if (!this.#isValueEnd(at) || at - digitsAt > exactDigits || pointAt === at - 1 || at === digitsAt) {
      return this.#scanAnyNumber(start)
    }
    this.#at = at
    const magnitude = pointAt === -1 ? mantissa : mantissa / (powersOfTen[at - pointAt - 1] as number)
    return isNegative ? -magnitude : magnitude
  }

  #isValueEnd(at: number): boolean {
    if (at === this.#bytes.length) return true
    const byte = this.#bytes[at]
    return byte === byteOf.comma || byte === byteOf.space || byte === byteOf.lineFeed
  }

  #scanAnyNumber(start: number): number {
    const bytes = this.#bytes
    // A text is left to whoever says what is wrong.
    if (bytes[start] === byteOf.quote) return Number.NaN
    this.#at = nameEnd(bytes, start, bytes.length)
    return readValue(bytes, start, withoutReturn(bytes, start, this.#at))
  }

  #valueProblem({ metric }: KnownField): Problem {
    const problem = this.#bytes[this.#at] === byteOf.quote ? this.#skipText() : undefined
    return problem ?? invalid(`${metrics[metric]} must be a number`)
  }

  /** Of a field that is no metric. */
  #skipValue(field: KnownField): Problem | undefined {
    const bytes = this.#bytes
    const start = this.#at
    if (start < bytes.length && bytes[start] === byteOf.quote) {
      const problem = this.#skipText()
      if (problem !== undefined) return problem
    } else {
      this.#at = nameEnd(bytes, start, bytes.length)
      if (withoutReturn(bytes, start, this.#at) === start) return malformed('has a field without a value')
    }
    return this.#unknownField(field)
  }

  #skipText(): Problem | undefined {
    const start = this.#at
    const end = stringEnd(this.#bytes, start)
    this.#at = end ?? this.#bytes.length
    this.#countLines(start, this.#at)
    return end === undefined ? malformed('has a quote that is not closed') : undefined
  }

  #unknownField({ name }: KnownField): Problem | undefined {
    if (this.#options.names.unknownFields === 'ignore') return undefined
    return invalid(`field ${shortened(unescapeText(name, 0, name.length - 1, 'name'))} is not known`)
  }

  /** What stands between the fields and the line feed. */
  #scanTime(): Problem | undefined {
    const bytes = this.#bytes
    this.#timeMs = receiptTimeMs
    if (!this.#isAtEnd() && bytes[this.#at] !== byteOf.space) return malformed('has characters behind a value')
    this.#skipSpaces()
    if (this.#isAtEnd()) return undefined
    const start = this.#at
    this.#at = nameEnd(bytes, start, bytes.length)
    const { precision, nowMs, aheadMsMax } = this.#options
    const timeMs = readTimestamp(bytes, start, withoutReturn(bytes, start, this.#at), precision)
    if (Number.isNaN(timeMs)) return malformed('has a timestamp that is no integer of 64 bits')
    this.#skipSpaces()
    if (!this.#isAtEnd()) return malformed('has characters behind the timestamp')
    const reason = timeReason(timeMs, nowMs + aheadMsMax)
    if (reason !== undefined) return invalid(`timestamp ${reason}; its unit is ${precision}`)
    this.#timeMs = timeMs
    return undefined
  }

  #skipSpaces(): void {
    while (this.#bytes[this.#at] === byteOf.space) this.#at++
  }

  /** Moves from a carriage return on to its line feed. */
  #isAtEnd(): boolean {
    const bytes = this.#bytes
    const isReturn = bytes[this.#at] === byteOf.carriageReturn
    const next = isReturn ? this.#at + 1 : this.#at
    if (next < bytes.length && bytes[next] !== byteOf.lineFeed) return false
    this.#at = next
    return true
  }

  /** The lines that a text spans are lines of the body too. */
  #countLines(start: number, end: number): void {
    for (let at = start; at < end; at++) if (this.#bytes[at] === byteOf.lineFeed) this.#line++
  }
}

/** A power of two; beyond it the tables grow, or are left for slower ones. */
function linesExpectedIn({ length }: Buffer): number {
  return 2 ** Math.min(16, Math.max(6, Math.ceil(Math.log2(length / lineBytesUsual))))
}

function isBlank(byte: number | undefined): boolean {
  return byte === byteOf.space || byte === byteOf.tab || byte === byteOf.carriageReturn
}

function endOfComment(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(byteOf.lineFeed, start)
  return end === -1 ? bytes.length : end
}

/** The end of a token before a line feed, without the carriage return that belongs to it. */
function withoutReturn(bytes: Buffer, start: number, end: number): number {
  const isLineEnd = end > start && (end === bytes.length || bytes[end] === byteOf.lineFeed)
  return isLineEnd && bytes[end - 1] === byteOf.carriageReturn ? end - 1 : end
}

const zero = 0x30
const nine = 0x39
const point = 0x2e
const letterI = 0x69
const letterU = 0x75

/** A float, or an integer with its letter behind it; NaN for what is neither. */
function readValue(bytes: Buffer, start: number, end: number): number {
  if (end - start > numberBytesMax || bytes[start] === 0x2b) return Number.NaN
  const last = bytes[end - 1]
  return last === letterI || last === letterU ? readInteger(bytes, start, end - 1, last) : readNumber(bytes, start, end)
}

function readInteger(bytes: Buffer, start: number, end: number, letter: number): number {
  const digitsAt = bytes[start] === byteOf.minus && letter === letterI ? start + 1 : start
  for (let at = digitsAt; at < end; at++) if (!isDigit(bytes[at])) return Number.NaN
  return end > digitsAt ? readNumber(bytes, start, end) : Number.NaN
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine
}

function shortened(name: string): string {
  return name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax - 1).toWellFormed()}…` : name
}

function malformed(reason: string): Problem {
  return { code: 'LINE_MALFORMED', reason }
}

function invalid(reason: string): Problem {
  return { code: 'READING_INVALID', reason }
}
