/** Reads a chunk of whole lines: rows that passed the check, and a reject for each line that did not. */

import type { Fields } from '../field-names.ts'
import type { LineReader } from './line-reader.ts'
import { NameIndex } from './name-index.ts'
import { type Reject, RejectList } from './reject.ts'
import type { RowCheck, RowKind } from './row-kind.ts'
import { createRows, type Rows, withoutRoom } from './rows.ts'

export interface ChunkOptions {
  kind: RowKind<never>
  readLine: LineReader
  check: RowCheck<never>
  /** Number of the chunk's first line in the body. */
  firstLine: number
  nowMs: number
  lineBytesMax: number
  /** How many rejects to list; the others are only counted. */
  rejectsMax: number
}

export interface ChunkResult {
  /** Lines in the chunk, empty ones too. */
  lines: number
  rows: Rows
  /** The distinct names of the rows, each in its parts. */
  names: (readonly string[])[]
  rejects: Reject[]
  rejected: number
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

export function readChunk(chunk: Buffer, options: ChunkOptions): ChunkResult {
  const { kind, readLine, lineBytesMax } = options
  const sink = new RowSink(Math.ceil(chunk.length / kind.lineBytesMin), options)
  let line = options.firstLine
  for (let start = 0; start < chunk.length; line++) {
    const found = chunk.indexOf(lineFeed, start)
    const lineEnd = found === -1 ? chunk.length : found
    const end = lineEnd > start && chunk[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd
    if (lineEnd - start > lineBytesMax) {
      sink.rejects.add(line, undefined, 'LINE_TOO_LONG', `is longer than ${lineBytesMax} bytes`)
    } else if (end > start) {
      const fields = readLine(chunk, start, end)
      if (typeof fields === 'string') sink.rejects.add(line, undefined, 'LINE_MALFORMED', fields)
      else sink.take(line, fields)
    }
    start = lineEnd + 1
  }
  return {
    lines: line - options.firstLine,
    rows: withoutRoom(sink.rows),
    names: sink.names.list,
    rejects: sink.rejects.listed,
    rejected: sink.rejects.count,
  }
}

class RowSink {
  readonly rows: Rows
  readonly names = new NameIndex()
  readonly rejects: RejectList
  readonly #kind: RowKind<never>
  readonly #check: RowCheck<never>
  readonly #nowMs: number

  constructor(rowsMax: number, { kind, check, nowMs, rejectsMax }: ChunkOptions) {
    this.rows = createRows(rowsMax, kind.valuesPerRow)
    this.rejects = new RejectList(kind.subject, rejectsMax)
    this.#kind = kind
    this.#check = check
    this.#nowMs = nowMs
  }

  take(line: number, fields: Fields): void {
    const checked = this.#check(fields, this.#nowMs)
    if (!checked.ok) {
      this.rejects.add(line, checked.name, this.#kind.invalidCode, checked.reason)
      return
    }
    const { rows } = this
    const row = rows.count++
    rows.lines[row] = line
    rows.names[row] = this.names.indexOf(checked.names)
    rows.timesMs[row] = checked.timestampMs
    this.#kind.put(rows.values, row * this.#kind.valuesPerRow, checked.values)
  }
}
