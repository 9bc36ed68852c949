/** CSV: a header that names the columns, in any order, and one reading a line. */

import { parse } from 'csv-parse/sync'
import { metrics } from '../../store/tables.ts'
import type { Fields } from '../field-names.ts'
import { readIsoTime } from './iso-time.ts'
import type { LineReader } from './line-reader.ts'
import { readNumber } from './number.ts'

const fieldNames = ['timestamp', 'device', ...metrics] as const
type FieldName = (typeof fieldNames)[number]
const requiredColumns: readonly FieldName[] = ['timestamp', 'device', 'temperature', 'humidity', 'pressure']

/** The field of each column, in the order of the file; undefined for a column that is not ours. */
export type CsvColumns = readonly (FieldName | undefined)[]

export type CsvHeader = { ok: true; columns: CsvColumns; ignored: string[] } | { ok: false; reason: string }

/** A header is read once, so it always takes the slow and thorough way. */
export function readCsvHeader(line: string): CsvHeader {
  const names = splitQuoted(line)
  if (names === undefined) return { ok: false, reason: 'the header is not a line of CSV' }
  const columns = names.map(name => fieldOf(name))
  const doubled = columns.find((field, column) => field !== undefined && columns.indexOf(field) < column)
  if (doubled !== undefined) return { ok: false, reason: `the header names the column ${doubled} twice` }
  const absent = requiredColumns.filter(field => !columns.includes(field))
  if (absent.length > 0) {
    return { ok: false, reason: `the header lacks ${absent.join(', ')}; it begins with: ${line.slice(0, 100)}` }
  }
  return { ok: true, columns, ignored: names.filter((_, column) => columns[column] === undefined) }
}

function fieldOf(name: string): FieldName | undefined {
  const key = name.trim().toLowerCase().replace(' ', '_')
  return fieldNames.find(field => field === key)
}

const comma = 0x2c
const quote = 0x22

/**
 * A line without quotes is read from its bytes where they lie. That takes a third of the time of csv-parse, which
 * reads 0.4 million lines a second of a core and leaves the numbers and times still to be read.
 */
export function createCsvReader(columns: CsvColumns): LineReader {
  const cells = new Cells(columns.length)
  const deviceNames = new RepeatedText()
  const fields: Fields = {
    timestamp: undefined,
    device: undefined,
    temperature: null,
    humidity: null,
    pressure: null,
    battery_voltage: null,
    battery_percentage: null,
  }

  return (chunk, start, end) => {
    const problem = cells.split(chunk, start, end)
    if (problem !== undefined) return problem
    if (cells.count !== columns.length) return `has ${cells.count} cells, but the header has ${columns.length}`
    for (let column = 0; column < columns.length; column++) {
      const field = columns[column]
      if (field === undefined) continue
      fields[field] = readCell(field, cells.source, cells.starts[column] ?? 0, cells.ends[column] ?? 0)
    }
    return fields
  }

  function readCell(field: FieldName, source: Buffer, start: number, end: number): unknown {
    if (field === 'timestamp') return readTime(source, start, end)
    if (field === 'device') return deviceNames.read(source, start, end)
    return readMetric(source, start, end)
  }
}

/** Milliseconds where the text can be read quickly; otherwise the text itself, for the check that all formats share. */
function readTime(source: Buffer, start: number, end: number): number | string | undefined {
  if (start === end) return undefined
  const timeMs = readIsoTime(source, start, end)
  if (!Number.isNaN(timeMs)) return timeMs
  const epochMs = readNumber(source, start, end)
  return Number.isNaN(epochMs) ? source.toString('utf8', start, end) : epochMs
}

/** The text itself where it is no number: the check refuses it with its own words. */
function readMetric(source: Buffer, start: number, end: number): number | string | null {
  if (start === end) return null
  const value = readNumber(source, start, end)
  return Number.isNaN(value) ? source.toString('utf8', start, end) : value
}

/** Where the cells of a line are: in the chunk itself, or in a copy without the quotes. */
class Cells {
  source: Buffer = Buffer.alloc(0)
  count = 0
  readonly starts: Uint32Array
  readonly ends: Uint32Array

  constructor(cellsMax: number) {
    this.starts = new Uint32Array(cellsMax)
    this.ends = new Uint32Array(cellsMax)
  }

  /** Says what is wrong with a line that is not CSV; too many cells are counted, but not kept. */
  split(chunk: Buffer, start: number, end: number): string | undefined {
    this.source = chunk
    this.count = 0
    let cellStart = start
    for (let at = start; at < end; at++) {
      const byte = chunk[at]
      if (byte === quote) return this.#splitQuoted(chunk.toString('utf8', start, end))
      if (byte !== comma) continue
      this.#add(cellStart, at)
      cellStart = at + 1
    }
    this.#add(cellStart, end)
    return undefined
  }

  #splitQuoted(line: string): string | undefined {
    const texts = splitQuoted(line)
    if (texts === undefined) return 'has quotes that do not match'
    this.source = Buffer.from(texts.join(''))
    this.count = 0
    let start = 0
    for (const text of texts) {
      const end = start + Buffer.byteLength(text)
      this.#add(start, end)
      start = end
    }
    return undefined
  }

  #add(start: number, end: number): void {
    this.starts[this.count] = start
    this.ends[this.count] = end
    this.count++
  }
}

function splitQuoted(line: string): string[] | undefined {
  try {
    const records = parse(line, { relax_column_count: true })
    return records.length === 1 ? records[0] : undefined
  } catch {
    return undefined
  }
}

/** Most lines name the device of the line before: equal bytes give the string that is already there. */
class RepeatedText {
  #bytes: Buffer = Buffer.alloc(0)
  #text = ''

  read(source: Buffer, start: number, end: number): string {
    if (end - start !== this.#bytes.length || source.compare(this.#bytes, 0, this.#bytes.length, start, end) !== 0) {
      this.#bytes = source.subarray(start, end)
      this.#text = this.#bytes.toString()
    }
    return this.#text
  }
}
