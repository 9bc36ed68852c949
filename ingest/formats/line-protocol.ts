/**
 * InfluxDB's line protocol: `measurement,tag=value field=1,field=2i timestamp`. A body is read in one pass over its bytes.
 *
 * Lines with the same device and time become one row, field by field, because many senders write one field a line.
 */

import { type Errors, earliestTimeMs, leftOutReason, type Ranges, timeReason } from '../reading.ts'
import type { SightingsReader } from './field-sightings.ts'
import type { KnownLines } from './known-names.ts'
import { type Entity, type EntityMetric, EntityReports } from './line-protocol-entities.ts'
import { type DeviceOfLine, FieldsReader } from './line-protocol-fields.ts'
import type { LineNames } from './line-protocol-names.ts'
import { SeriesReader } from './line-protocol-series.ts'
import {
  byteOf,
  commentEnd,
  isBlank,
  isFine,
  lineEnd,
  lineFeedsIn,
  nameEnd,
  type Precision,
  readFineTimestamp,
  readTimestamp,
  seriesEnd,
  unitOf,
  withoutReturn,
} from './line-protocol-text.ts'
import { MergedRows } from './merged-rows.ts'
import type { NameIndex } from './name-index.ts'
import { invalid, malformed, type Problem, type Reject, RejectList } from './reject.ts'
import { readingRows } from './row-kinds.ts'
import type { Rows } from './rows.ts'

export interface LineProtocolOptions {
  names: LineNames
  precision: Precision
  ranges: Ranges
  nowMs: number
  /** Limit of timestamps ahead of the server's clock. */
  aheadMsMax: number
  /** Earliest accepted timestamp. Default: the year 2000. */
  earliestMs?: number | undefined
  /** Device of lines that name none. */
  deviceDefault: string | undefined
  /** The metrics of the registry. With them, lines with Home Assistant's tags are read as entities. */
  entityMetrics?: readonly EntityMetric[] | undefined
  /** Times keep their microseconds if it is true. */
  hasFineTimes?: boolean | undefined
  /** The thread's cache of lines read with the same `names`. */
  knownLines?: KnownLines | undefined
  /** Limit of the listed rejects. The others are only counted. */
  rejectsMax: number
  /** Device of the name with this index. Without it, fields without a column are not stored. */
  deviceOf?: ((name: number) => DeviceOfLine) | undefined
  /** Collects unresolved fields without a column, which are left out. */
  sightings?: SightingsReader | undefined
}

export interface LineProtocolResult {
  /** Lines with a point, including rejected ones. */
  points: number
  rows: Rows
  /** The distinct devices of the rows. */
  names: NameIndex
  /** Number of lines of each device in the rows. */
  lineCounts: Uint32Array<ArrayBuffer>
  rejects: Reject[]
  rejected: number
  /** Lines stored without their values out of range. The first are listed. */
  leftOut: { rejected: number; rejects: Reject[] }
  /** Entities with an assumed unit, with the first line of each. The first are listed. */
  assumed: { rejected: number; rejects: Reject[] }
  /** The body exceeds the limit of rows, devices or fields. The rest was not read. */
  isTooLong: boolean
}

/** Marks rows whose lines have no time. All readings are newer. */
export const receiptTimeMs = 0

const lineBytesMax = 1 << 16
const rowsMax = 1_000_000
/** The main thread looks all of them up in one turn. */
const devicesMax = 10_000
/** Values without a column, of all rows. */
const customValuesMax = 4_000_000
const lineBytesUsual = 64
const leftOutListedMax = 100
const assumedListedMax = 100

export function readLineProtocol(body: Buffer, options: LineProtocolOptions): LineProtocolResult {
  const reader = new BodyReader(body, options)
  reader.readAll()
  return reader.result()
}

class BodyReader {
  readonly #bytes: Buffer
  readonly #options: LineProtocolOptions
  readonly #unit: ReturnType<typeof unitOf>
  readonly #earliestMs: number
  readonly #latestMs: number
  readonly #series: SeriesReader
  readonly #fields: FieldsReader
  readonly #rejects: RejectList
  readonly #leftOut: RejectList
  readonly #assumed: RejectList
  readonly #assumedOf = new Set<Entity>()
  readonly #rows: MergedRows
  readonly #lineCounts: number[] = []
  readonly #reports = new EntityReports()
  #timeMs = receiptTimeMs
  /** Entity of the current line. */
  #entity: Entity | undefined
  #at = 0
  #line = 0
  #points = 0

  constructor(body: Buffer, options: LineProtocolOptions) {
    const { rejectsMax, precision, nowMs, aheadMsMax, earliestMs = earliestTimeMs } = options
    this.#bytes = body
    this.#options = options
    this.#unit = unitOf(precision)
    this.#earliestMs = earliestMs
    this.#latestMs = nowMs + aheadMsMax
    const linesExpected = linesExpectedIn(body)
    this.#series = new SeriesReader(body, options)
    this.#fields = new FieldsReader(body, options)
    this.#rows = new MergedRows(linesExpected)
    this.#rejects = new RejectList(readingRows.subject, rejectsMax)
    this.#leftOut = new RejectList(readingRows.subject, leftOutListedMax)
    this.#assumed = new RejectList(readingRows.subject, assumedListedMax)
  }

  result(): LineProtocolResult {
    return {
      points: this.#points,
      rows: this.#rows.take(),
      names: this.#series.devices,
      lineCounts: Uint32Array.from(
        { length: this.#series.devices.count },
        (_, device) => this.#lineCounts[device] ?? 0,
      ),
      rejects: this.#rejects.listed,
      rejected: this.#rejects.count,
      leftOut: { rejected: this.#leftOut.count, rejects: this.#leftOut.listed },
      assumed: { rejected: this.#assumed.count, rejects: this.#assumed.listed },
      isTooLong: this.#isTooLong(),
    }
  }

  #isTooLong(): boolean {
    if (this.#series.devices.count > devicesMax || this.#rows.customCount > customValuesMax) return true
    const isFull = this.#rows.count >= rowsMax || this.#options.sightings?.isFull() === true
    return isFull && this.#at < this.#bytes.length
  }

  /** A separate function: V8 discards its code for a running loop when other code follows it. */
  readAll(): void {
    while (this.#readLine());
  }

  /** Returns false at the end. */
  #readLine(): boolean {
    const bytes = this.#bytes
    let at = this.#at
    if (at >= bytes.length || this.#isTooLong()) return false
    this.#line++
    while (isBlank(bytes[at])) at++
    if (bytes[at] === byteOf.lineFeed || at === bytes.length) this.#at = at
    else if (bytes[at] === byteOf.hash) this.#at = commentEnd(bytes, at)
    else this.#readPoint(at)
    // Skips the line feed.
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
    else if (this.#fields.hasMetric) this.#put(line, device)
  }

  #put(line: number, device: number): void {
    const { values, custom } = this.#fields
    const row = this.#rows.put(line, device, this.#timeOfRow(device), values)
    for (const { series, value } of custom) this.#rows.putCustom(row, series, value)
    this.#lineCounts[device] = (this.#lineCounts[device] ?? 0) + 1
    const { outOfRange } = this.#fields
    if (outOfRange !== undefined) this.#noteLeftOut(line, device, outOfRange)
    if (this.#entity !== undefined) this.#noteAssumed(line, device, this.#entity)
  }

  #noteLeftOut(line: number, device: number, outOfRange: Errors): void {
    this.#leftOut.add(line, this.#series.devices.textOf(device), readingRows.invalidCode, leftOutReason(outOfRange))
  }

  #noteAssumed(line: number, device: number, entity: Entity): void {
    const { metric, assumed } = entity
    if (assumed === undefined || this.#assumedOf.has(entity)) return
    this.#assumedOf.add(entity)
    const states = `LINE_PROTOCOL_UNITS=${metric?.name}=UNIT states another one`
    const reason = `${metric?.name} has no unit: ${assumed} is assumed, and ${states}`
    this.#assumed.add(line, this.#series.devices.textOf(device), readingRows.invalidCode, reason)
  }

  #timeOfRow(device: number): number {
    if (this.#entity === undefined || this.#timeMs === receiptTimeMs) return this.#timeMs
    return this.#reports.timeOf(device, this.#entity, this.#timeMs)
  }

  /** Skips a line with a problem. */
  #skipRest(): void {
    const start = this.#at
    this.#at = lineEnd(this.#bytes, start)
    this.#line += lineFeedsIn(this.#bytes, start, this.#at)
  }

  /** Returns the device, and keeps its values and time aside. Ends at the line feed, or before it after a problem. */
  #scanPoint(start: number): number | Problem {
    const bytes = this.#bytes
    this.#at = seriesEnd(bytes, start)
    if (this.#at === bytes.length || bytes[this.#at] !== byteOf.space) return malformed('has no fields')
    const { device, fields, entity, problem } = this.#series.read(start, this.#at)
    if (problem !== undefined) return problem
    this.#entity = entity
    this.#skipSpaces()
    const known = device === -1 ? undefined : this.#options.deviceOf?.(device)
    const wrong = this.#fields.read(this.#at, fields, known, entity)
    this.#at = this.#fields.end
    // A text that spans lines counts as several lines of the body.
    this.#line += this.#fields.lineFeeds
    const all = wrong ?? this.#scanTime()
    if (all === wrong) this.#noteSighted(device, wrong !== undefined)
    return all ?? device
  }

  /** The device of a line with a rejected value may list its metrics. */
  #noteSighted(device: number, isRefused: boolean): void {
    for (const name of this.#fields.sighted) this.#options.sightings?.addField(device, name, isRefused)
    for (const name of this.#fields.sightedIfListed) this.#options.sightings?.addField(device, name, true)
  }

  /** Reads the timestamp between the fields and the line feed. */
  #scanTime(): Problem | undefined {
    const bytes = this.#bytes
    this.#timeMs = receiptTimeMs
    if (!this.#isAtEnd() && bytes[this.#at] !== byteOf.space) return malformed('has characters behind a value')
    this.#skipSpaces()
    if (this.#isAtEnd()) return undefined
    const start = this.#at
    this.#at = nameEnd(bytes, start, bytes.length)
    const timeMs = this.#readTime(start, withoutReturn(bytes, start, this.#at))
    if (typeof timeMs !== 'number') return timeMs
    if (Number.isNaN(timeMs)) return malformed('has a timestamp that is not an integer of 64 bits')
    this.#skipSpaces()
    if (!this.#isAtEnd()) return malformed('has characters behind the timestamp')
    const reason = timeReason(timeMs, this.#earliestMs, this.#latestMs)
    if (reason !== undefined) return invalid(`timestamp ${reason}; its unit is ${this.#options.precision}`)
    this.#timeMs = timeMs
    return undefined
  }

  #readTime(start: number, end: number): number | Problem {
    const unit = this.#unit
    if (this.#options.hasFineTimes === true) return readFineTimestamp(this.#bytes, start, end, unit)
    if (this.#entity === undefined) return readTimestamp(this.#bytes, start, end, unit)
    // Entities of one device come in separate lines, possibly in two bodies, where one would replace the other.
    if (!isFine(unit)) return invalid('timestamps of entities must be in nanoseconds or microseconds')
    return readFineTimestamp(this.#bytes, start, end, unit)
  }

  #skipSpaces(): void {
    while (this.#bytes[this.#at] === byteOf.space) this.#at++
  }

  /** Skips a carriage return before a line feed. */
  #isAtEnd(): boolean {
    const bytes = this.#bytes
    const isReturn = bytes[this.#at] === byteOf.carriageReturn
    const next = isReturn ? this.#at + 1 : this.#at
    if (next < bytes.length && bytes[next] !== byteOf.lineFeed) return false
    this.#at = next
    return true
  }
}

/** A power of two. Beyond it the tables grow, or slower ones are used. */
function linesExpectedIn({ length }: Buffer): number {
  return 2 ** Math.min(16, Math.max(6, Math.ceil(Math.log2(length / lineBytesUsual))))
}
