/** Reads a chunk of whole lines: rows that passed the check, and a reject for each line that did not. */

import type { Fields } from '../field-names.ts'
import type { ReadingCheck } from '../reading.ts'
import { deviceNameProblem } from './device-name.ts'
import type { LineReader } from './line-reader.ts'
import { type Reject, RejectList } from './reject.ts'
import { addRow, createRows, type Rows } from './rows.ts'

export interface ChunkOptions {
  readLine: LineReader
  check: ReadingCheck
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
  /** The distinct devices of the rows. */
  names: string[]
  rejects: Reject[]
  rejected: number
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** No line with a reading is shorter, so this bounds the rows of a chunk before it is read. */
const rowBytesMin = '946684800000,a,1,,'.length

export function readChunk(chunk: Buffer, options: ChunkOptions): ChunkResult {
  const { readLine, lineBytesMax } = options
  const sink = new RowSink(Math.ceil(chunk.length / rowBytesMin), options)
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
    rows: sink.rows,
    names: sink.names,
    rejects: sink.rejects.listed,
    rejected: sink.rejects.count,
  }
}

class RowSink {
  readonly rows: Rows
  readonly names: string[] = []
  readonly rejects: RejectList
  readonly #check: ReadingCheck
  readonly #nowMs: number
  readonly #indexes = new Map<string, number>()

  constructor(rowsMax: number, { check, nowMs, rejectsMax }: ChunkOptions) {
    this.rows = createRows(rowsMax)
    this.rejects = new RejectList(rejectsMax)
    this.#check = check
    this.#nowMs = nowMs
  }

  take(line: number, fields: Fields): void {
    const device = fields['device']
    const nameProblem = deviceNameProblem(device)
    if (nameProblem !== undefined) {
      this.rejects.add(line, undefined, 'READING_INVALID', `device ${nameProblem}`)
      return
    }
    const name = String(device)
    const checked = this.#check(fields, false, this.#nowMs)
    if (!checked.ok) {
      this.rejects.add(line, name, 'READING_INVALID', sentenceOf(checked.errors))
      return
    }
    const { timestampMs } = checked.reading
    if (timestampMs === undefined) {
      this.rejects.add(line, name, 'READING_INVALID', 'timestamp is required')
      return
    }
    addRow(this.rows, line, this.#indexOf(name), timestampMs, checked.reading)
  }

  #indexOf(name: string): number {
    let index = this.#indexes.get(name)
    if (index === undefined) {
      index = this.names.push(name) - 1
      this.#indexes.set(name, index)
    }
    return index
  }
}

function sentenceOf(errors: Record<string, string>): string {
  return Object.entries(errors)
    .map(([field, reason]) => `${field} ${reason}`)
    .join('; ')
}
