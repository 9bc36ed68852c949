/** Finds the headers of a foreign file and cuts the lines below them into cells. */

import { cellCount, cellCountReason, type Separator, separators, splitCells } from '../../ingest/formats/csv.ts'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { metricNameOf } from '../../store/metrics/metric-name.ts'
import { CommandError } from '../command-error.ts'
import { printable } from '../output.ts'
import { layoutOf, type MappingOptions } from './mapping-options.ts'
import { findColumns, type MappedSeries, type Place, type TableColumns } from './table-columns.ts'
import { readColumnName } from './units.ts'

/** The lines below one header. */
export interface Table {
  readonly columns: TableColumns
  readonly separator: Separator
  /** Names of its columns, without units. */
  readonly names: ReadonlySet<string>
}

export interface TableRow {
  readonly table: Table
  readonly cells: readonly string[]
}

/** The name of the station and more may precede the header. */
const headerLinesMax = 50

export class TableLines {
  readonly #options: MappingOptions
  readonly #isAnnotated: boolean
  #table: Table | undefined
  #hadHeader = false
  #hadLong: boolean
  #linesBefore = 0
  #problem = { reason: 'the file is empty', cells: 0 }

  constructor(options: MappingOptions) {
    this.#options = options
    this.#isAnnotated = layoutOf(options).isAnnotated === true
    // One of several tables may have columns that another one lacks.
    this.#hadLong = this.#isAnnotated
  }

  /** A row, the fault of the line, or undefined for a line without cells. Throws a CommandError for the file. */
  next(text: string, line: number): TableRow | string | undefined {
    const isEmpty = text.trim() === ''
    if (this.#isAnnotated && (isEmpty || text.startsWith('#'))) {
      this.#linesBefore = 0
      this.#table = undefined
      return undefined
    }
    if (isEmpty) return undefined
    const table = this.#table
    if (table === undefined) {
      this.#readHeader(text)
      return undefined
    }
    const cells = splitCells(text, table.separator)
    const isRow = cells !== undefined && beginsWithDigit(cells[table.columns.timestamp] ?? '')
    if (!isRow && this.#isHeaderAgain(text, cells ?? [], table, line)) return undefined
    if (cells === undefined) return 'has quotes that do not match'
    const { length } = table.columns.names
    const count = cellCount(cells, length)
    return count === length ? { table, cells } : cellCountReason(count, length)
  }

  /** True if a reading may be parted over several lines. */
  isLong(): boolean {
    return this.#hadLong
  }

  /** Throws a CommandError for a file without a header. */
  end(): void {
    if (!this.#hadHeader) throw this.#noHeader()
  }

  #readHeader(text: string): void {
    const found = this.#tableOf(text)
    if (found !== undefined) this.#begin(found)
    else if (++this.#linesBefore === headerLinesMax) throw this.#noHeader()
  }

  #begin(table: Table): void {
    this.#table = table
    this.#hadHeader = true
    this.#hadLong ||= table.columns.values.kind === 'long'
  }

  #tableOf(text: string): Table | undefined {
    for (const separator of separators) {
      const found = splitCells(text, separator)
      if (found === undefined) continue
      const cells = found.slice(0, cellCount(found))
      const columns = findColumns(cells, layoutOf(this.#options), this.#options)
      if (typeof columns !== 'string') return { columns, separator, names: new Set(columns.names.map(columnKey)) }
      // The line with the most cells is most likely the header, so its fault is reported.
      if (cells.length > this.#problem.cells) this.#problem = { reason: columns, cells: cells.length }
    }
    return undefined
  }

  /** Files that were put together have a header each. Throws a CommandError for one that cannot be read. */
  #isHeaderAgain(text: string, cells: readonly string[], { names, separator }: Table, line: number): boolean {
    const parts = cells.length > 1 ? cells : separators.flatMap(each => (each === separator ? [] : text.split(each)))
    if (parts.filter(cell => isColumnName(cell, names)).length < headerNamesMin) return false
    this.#problem = { reason: '', cells: 0 }
    const found = this.#tableOf(text)
    if (found === undefined) {
      const reason = `line ${line} is a header again, but cannot be read: ${this.#problem.reason}`
      throw new CommandError(printable(`${reason}; import the lines from there on as another file`))
    }
    this.#begin(found)
    return true
  }

  #noHeader(): CommandError {
    return new CommandError(printable(`there is no header that can be used: ${this.#problem.reason}`))
  }
}

/** Minimum of names in a header: a single one may be a word of a broken line. */
const headerNamesMin = 2

function beginsWithDigit(text: string): boolean {
  const code = text.trimStart().charCodeAt(0)
  return code >= 0x30 && code <= 0x39
}

function columnKey(cell: string): string {
  return readColumnName(cell, 'any').name
}

function isColumnName(cell: string, known: ReadonlySet<string>): boolean {
  const name = columnKey(cell)
  return name !== '' && (known.has(name) || catalogueEntry(metricNameOf(name) ?? '') !== undefined)
}

/** The parts of a row that both readings of a file need: its series, and the text of its time. */
export interface RowSeries {
  /** Undefined where the row names none. */
  readonly device: string | undefined
  /** Only files of one value a line have it. */
  readonly value: MappedSeries | undefined
}

/** Undefined for a row of a series that is not read. */
export function seriesIn({ table: { columns }, cells }: TableRow): RowSeries | undefined {
  const { values } = columns
  const value = values.kind === 'long' ? values.seriesOf((cells[values.series] ?? '').trim()) : undefined
  if (values.kind === 'long' && value === undefined) return undefined
  const device = columns.device === undefined ? value?.device : textIn(columns.device, cells)
  return { device: device === '' ? undefined : device, value }
}

/** The lines of one series are in an order of their own. */
export function seriesKey({ device, value }: RowSeries): string {
  return value === undefined ? (device ?? '') : `${device}\n${value.metric}`
}

/** Undefined where the time of day is in another column and missing. */
export function timeIn({ table: { columns }, cells }: TableRow): string | undefined {
  const date = (cells[columns.timestamp] ?? '').trim()
  if (columns.clock === undefined) return date
  const clock = textIn(columns.clock, cells)
  return clock === '' ? undefined : `${date} ${clock}`
}

function textIn(place: Place, cells: readonly string[]): string {
  return 'text' in place ? place.text : (cells[place.column] ?? '').trim()
}
