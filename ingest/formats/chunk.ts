/** Reads a chunk of whole lines: valid rows, and a reject for each other line. */

import { type Fields, shortenedName } from '../field-names.ts'
import { type Errors, leftOutReason } from '../reading.ts'
import type { SightingsReader } from './field-sightings.ts'
import type { LineReader } from './lines.ts'
import { NameIndex } from './name-index.ts'
import { type Reject, RejectList } from './reject.ts'
import type { OtherFields, RefusedRow, RowCheck, RowKind } from './row-kind.ts'
import { CustomRows, createRows, type Rows, withoutRoom } from './rows.ts'

interface ChunkOptions {
  kind: RowKind<never>
  readLine: LineReader
  check: RowCheck<never>
  /** Number of the chunk's first line in the body. */
  firstLine: number
  nowMs: number
  lineBytesMax: number
  /** Limit of the listed rejects. The others are only counted. */
  rejectsMax: number
  /** Index for the names of the rows. A chunk read again gets the index of its first reading. */
  names?: NameIndex
  /** Collects fields without a column, and the names of rejected rows. Ends the chunk when it is full. */
  sightings?: SightingsReader
  /** Tests lines without a row: the chunk ends before a header. */
  isHeader?: ((text: string) => boolean) | undefined
}

export interface ChunkResult {
  /** Number of bytes read: the whole chunk, unless it has too many fields or a header follows. */
  bytes: number
  /** True when the next line is a header. */
  endsAtHeader: boolean
  /** Lines in the chunk, including empty ones. */
  lines: number
  rows: Rows
  /** The distinct names of the rows. */
  names: NameIndex
  others: NamesOfOthers
  rejects: Reject[]
  rejected: number
  leftOut: LeftOutValues
}

/** Values out of range in rows that are stored without them. */
export interface LeftOutValues {
  /** Number of lines with such values, and the first lines with their reasons. */
  rejected: number
  rejects: Reject[]
  /** The first names of their fields. */
  fields: string[]
}

export const leftOutListedMax = 1_000
export const leftOutFieldsMax = 100

/** Names of fields without a column, in valid rows. */
interface NamesOfOthers {
  /** Fields that may be, or are, values of metrics. */
  stored: ReadonlySet<string>
  ignored: ReadonlySet<string>
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

export function readChunk(chunk: Buffer, options: ChunkOptions): ChunkResult {
  const { kind, lineBytesMax, sightings } = options
  const sink = new RowSink(Math.ceil(chunk.length / kind.lineBytesMin), options)
  let line = options.firstLine
  let start = 0
  let endsAtHeader = false
  for (; start < chunk.length && sightings?.isFull() !== true; line++) {
    const found = chunk.indexOf(lineFeed, start)
    const lineEnd = found === -1 ? chunk.length : found
    const end = lineEnd > start && chunk[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd
    if (lineEnd - start > lineBytesMax) {
      sink.rejects.add(line, undefined, 'LINE_TOO_LONG', `is longer than ${lineBytesMax} bytes`)
    } else if (end > start && !sink.take(line, chunk, start, end)) {
      endsAtHeader = true
      break
    }
    start = lineEnd + 1
  }
  return {
    bytes: Math.min(start, chunk.length),
    endsAtHeader,
    lines: line - options.firstLine,
    rows: sink.takeRows(),
    names: sink.names,
    others: sink.others,
    rejects: sink.rejects.listed,
    rejected: sink.rejects.count,
    leftOut: { rejected: sink.leftOut.count, rejects: sink.leftOut.listed, fields: [...sink.leftOutFields] },
  }
}

/** The limit applies to a chunk: a line of NDJSON may have thousands, all of them different. */
const othersMax = 2_000

class RowSink {
  readonly names: NameIndex
  readonly rejects: RejectList
  readonly others = { stored: new Set<string>(), ignored: new Set<string>() }
  readonly leftOut: RejectList
  readonly leftOutFields = new Set<string>()
  readonly #rows: Rows
  readonly #kind: RowKind<never>
  readonly #readLine: LineReader
  readonly #check: RowCheck<never>
  readonly #nowMs: number
  readonly #sightings: SightingsReader | undefined
  readonly #isHeader: ChunkOptions['isHeader']
  #custom: CustomRows | undefined

  constructor(rowsMax: number, options: ChunkOptions) {
    const { kind, readLine, check, nowMs, rejectsMax, names, sightings, isHeader } = options
    this.names = names ?? new NameIndex()
    this.rejects = new RejectList(kind.subject, rejectsMax)
    this.leftOut = new RejectList(kind.subject, leftOutListedMax)
    this.#rows = createRows(rowsMax, kind.valuesPerRow)
    this.#kind = kind
    this.#readLine = readLine
    this.#check = check
    this.#nowMs = nowMs
    this.#sightings = sightings
    this.#isHeader = isHeader
  }

  /** Adds a row or a reject. Returns false for a header. */
  take(line: number, chunk: Buffer, start: number, end: number): boolean {
    const fields = this.#readLine(chunk, start, end)
    const refused = typeof fields === 'string' ? fields : this.#takeFields(line, fields)
    if (refused === undefined) return true
    if (this.#isHeader?.(chunk.toString('utf8', start, end)) === true) return false
    this.#reject(line, refused)
    return true
  }

  #takeFields(line: number, fields: Fields): RefusedRow | undefined {
    const checked = this.#check(fields, this.#nowMs, this.#readLine.hasOthers === true)
    if (!checked.ok) return checked
    const rows = this.#rows
    const row = rows.count++
    const name = this.#indexOf(checked.names)
    rows.lines[row] = line
    rows.names[row] = name
    rows.timesMs[row] = checked.timestampMs
    this.#kind.put(rows.values, row * this.#kind.valuesPerRow, checked.values)
    this.#sightings?.add(name, checked.others)
    if (checked.others !== undefined) this.#takeOthers(row, checked.others)
    if (checked.outOfRange !== undefined) this.#noteLeftOut(line, checked.names[0], checked.outOfRange)
    return undefined
  }

  #reject(line: number, refused: RefusedRow | string): void {
    if (typeof refused === 'string') {
      this.rejects.add(line, undefined, 'LINE_MALFORMED', refused)
      return
    }
    const { name, reason, others } = refused
    this.rejects.add(line, name, this.#kind.invalidCode, reason)
    if (name !== undefined) this.#sightings?.addRefused(this.#indexOf([name]), others)
  }

  #noteLeftOut(line: number, name: string | undefined, outOfRange: Errors): void {
    this.leftOut.add(line, name, this.#kind.invalidCode, leftOutReason(outOfRange))
    for (const field in outOfRange) if (this.leftOutFields.size < leftOutFieldsMax) this.leftOutFields.add(field)
  }

  #indexOf(parts: readonly string[]): number {
    const { knownName = -1 } = this.#readLine
    return knownName === -1 ? this.names.indexOf(parts) : this.names.indexOfKnown(knownName)
  }

  takeRows(): Rows {
    const rows = withoutRoom(this.#rows)
    return this.#custom === undefined ? rows : { ...rows, custom: this.#custom.take(rows.count) }
  }

  #takeOthers(row: number, { stored, ignored, custom }: OtherFields): void {
    for (const name of stored) if (this.others.stored.size < othersMax) this.others.stored.add(name)
    for (const name of ignored) if (this.others.ignored.size < othersMax) this.others.ignored.add(name)
    if (custom === undefined) return
    this.#custom ??= new CustomRows()
    this.#custom.putAll(row, custom)
  }
}

const namesMax = 100
/** Limit for all headers together. */
const columnsMax = 10_000

/** Names of a body's fields that are not stored: otherwise misspelled names would be lost silently. */
export class IgnoredFields {
  readonly #ignored = new Set<string>()
  readonly #stored = new Set<string>()
  /** Unknown columns of a CSV body's headers, in their own spelling. */
  #columns: readonly string[] = []

  addColumns(columns: readonly string[]): void {
    this.#columns = [...new Set([...this.#columns, ...columns])].slice(0, columnsMax)
  }

  add({ stored, ignored }: NamesOfOthers): void {
    for (const name of ignored) if (this.#ignored.size < namesMax + this.#columns.length) this.#ignored.add(name)
    // A stored value matches its column.
    if (this.#columns.length > 0) for (const name of stored) this.#stored.add(name)
  }

  /** CSV bodies list unknown columns without any stored value. Other formats list the first 100 names, shortened. */
  list(): string[] {
    const columns = this.#columns.filter(column => {
      const name = column.trim()
      return this.#ignored.has(name) || !this.#stored.has(name)
    })
    const known = new Set(this.#columns.map(column => column.trim()))
    const others = [...this.#ignored].filter(name => !known.has(name)).slice(0, namesMax)
    return [...columns, ...others.map(shortenedName)]
  }
}
