/**
 * CSV: a header with column names in any order, and one row per line. The header determines the separator: comma, semicolon or
 * tab. Each body has one decimal mark: spreadsheets write a comma in many countries.
 */

import { parse } from 'csv-parse/sync'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { ambiguousDirection, ambiguousDirectionReason, compassDegrees } from '../../store/metrics/compass.ts'
import { metricNameOf, timeFieldOf } from '../../store/metrics/metric-name.ts'
import { plainTimeText, ReadTime, readIsoTime, readZonedTimeText } from '../../store/time-text.ts'
import type { Fields } from '../field-names.ts'
import { earliestTimeMs } from '../reading.ts'
import type { KnownNames } from './known-names.ts'
import type { LineReader } from './lines.ts'
import { TextCache } from './name-index.ts'
import { type DecimalMark, readMarkedNumber, readNumber } from './number.ts'
import type { Column } from './row-kind.ts'

/** The field of each column, in the order of the file. Undefined for a skipped column. */
type CsvColumns = readonly (string | undefined)[]

export const separators = [',', ';', '\t'] as const
export type Separator = (typeof separators)[number]

/** The layout of a file's lines. */
export interface CsvLayout {
  columns: CsvColumns
  separator: Separator
  /** Without one, numbers with a comma are not readable. */
  decimal?: DecimalMark | undefined
}

/** `others`: names of unknown columns. */
export type CsvHeader = { ok: true; layout: CsvLayout; others: string[] } | { ok: false; reason: string }

/** Limit of the unknown columns that are read where rows may have custom fields. */
const othersMax = 150

/** A header is read once, so it takes the slow and thorough way. `hasCustom`: from its kind of rows. */
export function readCsvHeader(line: string, known: readonly Column[], hasCustom = false): CsvHeader {
  const attempts = separators.map(separator => readNames(line, separator, known)).filter(read => read !== undefined)
  // The separator with the most known columns.
  const [best] = attempts.toSorted((a, b) => b.known - a.known)
  if (best === undefined) return { ok: false, reason: 'the header is not a line of CSV' }
  const { names, columns, separator } = best
  const doubled = columns.find((field, column) => field !== undefined && columns.indexOf(field) < column)
  if (doubled !== undefined) return { ok: false, reason: `the header names the column ${doubled} twice` }
  const others = names.filter((_, column) => columns[column] === undefined)
  const layout = { columns: hasCustom ? withOthers(columns, names) : columns, separator }
  const absent = known.flatMap(({ name, isRequired }) => (isRequired && !columns.includes(name) ? [name] : []))
  // The check of the rows finds the time in such a column.
  if (absent[0] === 'timestamp' && hasCustom && others.some(isReadingTime)) absent.shift()
  if (absent.length > 0) {
    const lacks = `the header lacks ${absent.join(', ')}; it begins with: ${line.slice(0, 100)}`
    return { ok: false, reason: `${lacks}; it should name ${known.map(({ name }) => name).join(',')}` }
  }
  return { ok: true, layout, others }
}

/** Fewer names may be words in a broken line. */
const headerNamesMin = 2

/** Concatenated files repeat the header. Undefined for a line that is not a header. */
export function readHeaderAgain(
  line: string,
  { columns }: CsvLayout,
  known: readonly Column[],
  hasCustom = false,
): CsvHeader | undefined {
  const others = new Set(columns.filter(name => name !== undefined))
  const isName = (cell: string) => fieldOf(cell, known) !== undefined || others.has(cell.trim())
  const isHeader = separators.some(each => line.split(each).filter(isQuotedOr(isName)).length >= headerNamesMin)
  return isHeader ? readCsvHeader(line, known, hasCustom) : undefined
}

function isQuotedOr(isName: (cell: string) => boolean): (cell: string) => boolean {
  return cell => isName(cell.startsWith('"') && cell.endsWith('"') ? cell.slice(1, -1) : cell)
}

function isReadingTime(name: string): boolean {
  return timeFieldOf(name.trim()) === 'reading time'
}

/** Reads the first unknown columns by their names. */
function withOthers(columns: CsvColumns, names: readonly string[]): CsvColumns {
  let count = 0
  return columns.map((field, column) => {
    if (field !== undefined || count === othersMax) return field
    count++
    return (names[column] as string).trim()
  })
}

function readNames(line: string, separator: Separator, known: readonly Column[]) {
  const cells = splitQuoted(line, separator)
  if (cells === undefined) return undefined
  const names = cells.slice(0, cellCount(cells))
  const columns = names.map(name => fieldOf(name, known))
  return { separator, names, columns, known: columns.filter(field => field !== undefined).length }
}

function fieldOf(name: string, known: readonly Column[]): string | undefined {
  const key = name.trim().toLowerCase().replace(' ', '_')
  return known.find(column => column.name === key)?.name
}

const quote = 0x22
const blank = 0x20

/**
 * A line without quotes is read from its bytes in place. That takes a third of the time of csv-parse (0.4 million lines a second
 * of a core, numbers and times unparsed). `names`: the known names, for rows with one text column that holds their name.
 */
export function createCsvReader(
  { columns, separator, decimal }: CsvLayout,
  known: readonly Column[],
  names?: KnownNames,
): LineReader {
  const cells = new Cells(columns.length, separator)
  const texts = new TextCache()
  const utcTime = new ReadTime()
  const kinds = columns.map(field => known.find(({ name }) => name === field)?.cell ?? otherKind(field))
  const others = columns.filter((name, column) => name !== undefined && isOther(kinds[column]))
  const fields: Fields = Object.fromEntries(
    [...known.map(({ name }) => name), ...others].map(name => [name, undefined]),
  )

  const readLine: LineReader = (chunk, start, end) => {
    readLine.knownName = -1
    const problem = cells.split(chunk, start, end)
    if (problem !== undefined) return problem
    if (cells.count !== columns.length) return cellCountReason(cells.count, columns.length)
    for (let column = 0; column < columns.length; column++) {
      const field = columns[column]
      if (field === undefined) continue
      const value = readCell(kinds[column], cells.source, cells.starts[column] ?? 0, cells.ends[column] ?? 0)
      if (value === ambiguousDirection) return `${field} ${ambiguousDirectionReason}`
      fields[field] = value
    }
    return fields
  }
  readLine.hasOthers = others.length > 0
  return readLine

  function readText(source: Buffer, start: number, end: number): string {
    const place = names?.find(source, start, end) ?? -1
    readLine.knownName = place
    return place === -1 || names === undefined ? texts.read(source, start, end) : names.text(place)
  }

  function readCell(kind: CellKind | undefined, source: Buffer, start: number, end: number): unknown {
    switch (kind) {
      case 'time':
        return readTime(source, start, end)
      case 'utc time':
        return readUtcTime(source, start, end, utcTime)
      case 'text':
        return readText(source, start, end)
      case 'other':
        return readOther(source, start, end, decimal)
      case 'direction':
        return readDirection(source, start, end, decimal)
      default:
        return readMetric(source, start, end, decimal)
    }
  }
}

/** `other` and `direction`: fields without a column. */
type CellKind = Column['cell'] | 'other' | 'direction'

function otherKind(field: string | undefined): CellKind {
  return catalogueEntry(metricNameOf(field ?? '') ?? '')?.kind === 'direction' ? 'direction' : 'other'
}

function isOther(kind: CellKind | undefined): boolean {
  return kind === 'other' || kind === 'direction'
}

/** Milliseconds where the text can be read quickly; otherwise the text itself, for the check shared by all formats. */
function readTime(source: Buffer, start: number, end: number): number | string | undefined {
  if (start === end) return undefined
  const timeMs = readIsoTime(source, start, end)
  // A number this small would be read as seconds, so times in early 1970 stay texts.
  if (timeMs >= earliestTimeMs) return timeMs
  const epochMs = readNumber(source, start, end)
  if (!Number.isNaN(epochMs)) return epochMs
  const text = source.toString('utf8', start, end)
  const timeUs = readZonedTimeText(plainTimeText(text))
  return timeUs === undefined ? text : timeUs / 1000
}

/** `time` where the text can be read quickly; otherwise the text itself. */
function readUtcTime(source: Buffer, start: number, end: number, time: ReadTime): ReadTime | string | undefined {
  if (start === end) return undefined
  time.ms = readIsoTime(source, start, end, 'or without zone')
  return Number.isNaN(time.ms) ? plainTimeText(source.toString('utf8', start, end)) : time
}

/** A text that is not a number is returned unchanged: the check rejects it with its own reason. */
function readMetric(
  source: Buffer,
  start: number,
  end: number,
  decimal: DecimalMark | undefined,
): number | string | null {
  if (start === end) return null
  const value = decimal === 'comma' ? Number.NaN : readNumber(source, start, end)
  if (!Number.isNaN(value)) return value
  const text = source.toString('utf8', start, end).trim()
  if (isMissing(text)) return null
  const marked = readMarkedNumber(text, decimal)
  return Number.isNaN(marked) ? text : marked
}

const missingWords = new Set([
  ...[
    'na',
    'n/a',
    'n.a.',
    '#n/a',
    '#na',
    'nan',
    '-nan',
    'null',
    '(null)',
    '#null!',
    '\\n',
    'nil',
    'none',
    'n.d.',
    'nd',
  ],
  ...['no data', 'nodata', 'no_data', 'missing', 'unknown', 'unavailable', 'err', 'err.', 'error', '#error', 'fail'],
  ...['#value!', '#ref!', '#div/0!', '#num!', '#name?', '#error!'],
])
const missingLengthMax = 16

/** True for texts that programs write for missing values. */
export function isMissing(text: string): boolean {
  if (text.length > missingLengthMax) return false
  return /^[-–—.*?#_ ]*$/.test(text) || missingWords.has(text.trim().toLowerCase())
}

function readDirection(source: Buffer, start: number, end: number, decimal: DecimalMark | undefined) {
  const value = readMetric(source, start, end, decimal)
  if (typeof value !== 'string') return value
  const degrees = compassDegrees(value)
  return Number.isNaN(degrees) ? null : (degrees ?? value)
}

/** Reads a field that may be a metric's value. Switches are words. */
function readOther(source: Buffer, start: number, end: number, decimal: DecimalMark | undefined) {
  const value = readMetric(source, start, end, decimal)
  if (typeof value !== 'string' || value.length > 'false'.length) return value
  const word = value.toLowerCase()
  return word === 'true' || word === 'false' ? word === 'true' : value
}

/** Positions of a line's cells: in the chunk itself, or in a copy without quotes. */
class Cells {
  source: Buffer = Buffer.alloc(0)
  /** Excludes empty cells beyond the header's columns. */
  count = 0
  #found = 0
  readonly starts: Uint32Array
  readonly ends: Uint32Array

  readonly #separator: Separator
  readonly #separatorByte: number

  constructor(cellsMax: number, separator: Separator) {
    this.#separator = separator
    this.#separatorByte = separator.charCodeAt(0)
    this.starts = new Uint32Array(cellsMax)
    this.ends = new Uint32Array(cellsMax)
  }

  /** Returns the fault of a line that is not CSV. Excess cells are counted but not kept. */
  split(chunk: Buffer, start: number, end: number): string | undefined {
    this.source = chunk
    this.count = 0
    this.#found = 0
    const separator = this.#separatorByte
    let cellStart = start
    for (let at = start; at < end; at++) {
      const byte = chunk[at]
      if (byte === quote) return this.#splitQuoted(chunk.toString('utf8', start, end))
      if (byte !== separator) continue
      this.#add(cellStart, at)
      cellStart = at + 1
    }
    this.#add(cellStart, end)
    return undefined
  }

  #splitQuoted(line: string): string | undefined {
    const texts = splitQuoted(line, this.#separator)
    if (texts === undefined) return 'has quotes that do not match'
    this.source = Buffer.from(texts.join(''))
    this.count = 0
    this.#found = 0
    let start = 0
    for (const text of texts) {
      const end = start + Buffer.byteLength(text)
      this.#add(start, end)
      start = end
    }
    return undefined
  }

  #add(start: number, end: number): void {
    const at = this.#found++
    this.starts[at] = start
    this.ends[at] = end
    if (at < this.starts.length || !isBlank(this.source, start, end)) this.count = this.#found
  }
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== blank) return false
  return true
}

export function cellCountReason(count: number, columnCount: number): string {
  return `has ${count} cells, but the header has ${columnCount}`
}

/** Excludes empty cells at the end, except within the first `min`. */
export function cellCount(cells: readonly string[], min = 0): number {
  let count = cells.length
  while (count > min && (cells[count - 1] as string).trim() === '') count--
  return count
}

/** The cells of a line. Undefined where its quotes do not match. */
export function splitCells(line: string, separator: Separator): string[] | undefined {
  return line.includes('"') ? splitQuoted(line, separator) : line.split(separator)
}

function splitQuoted(line: string, separator: Separator): string[] | undefined {
  try {
    const records = parse(line, { delimiter: separator, relax_column_count: true })
    return records.length === 1 ? records[0] : undefined
  } catch {
    return undefined
  }
}
