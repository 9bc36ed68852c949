/** Reads a foreign file of lines and cells, line by line: what of it is a reading, and what is wrong with the others. */

import {
  cellCount,
  cellCountReason,
  isMissing,
  type Separator,
  separators,
  splitCells,
} from '../../ingest/formats/csv.ts'
import { readNumber } from '../../ingest/formats/number.ts'
import { catalogueEntry } from '../../metrics/catalogue.ts'
import { ambiguousDirection, ambiguousDirectionReason, compassDegrees } from '../../metrics/compass.ts'
import { CommandError } from '../command-error.ts'
import { printable } from '../output.ts'
import { columnOf, type MappedReading, MappedValues } from './mapped-reading.ts'
import type { Mapping } from './mapping.ts'
import { isState, type Layout } from './presets.ts'
import { findColumns, type MetricColumn, type OtherColumn, type TableColumns } from './table-columns.ts'
import { createTimeReader, type ReadTime } from './times.ts'
import { conversionOf } from './units.ts'

export interface TableReader {
  /** A reading, what is wrong with the line, or undefined for a line that has none. Throws a CommandError for the file. */
  read(line: string): MappedReading | string | undefined
  /** Whether a reading may be parted over several lines. */
  isLong(): boolean
  ignoredColumns(): readonly string[]
  /** Throws a CommandError when there was no header. */
  end(): void
}

/** Before the header there may be the name of the station and more. */
const headerLinesMax = 50

export function createTableReader(layout: Layout, mapping: Mapping, zone: string | undefined): TableReader {
  let table: Table | undefined
  let hadHeader = false
  // Of several tables, one may have what another one lacks.
  let hadLong = layout.isAnnotated === true
  let linesBefore = 0
  let problem = { reason: 'the file is empty', cells: 0 }

  function readHeader(line: string): void {
    for (const separator of separators) {
      const found = splitCells(line, separator)
      if (found === undefined) continue
      const cells = found.slice(0, cellCount(found))
      const columns = findColumns(cells, layout, mapping)
      if (typeof columns !== 'string') {
        const readTime = createTimeReader(columns.timeFormat, zone)
        table = { columns, columnCount: cells.length, separator, readTime, textColumns: new Set() }
        hadHeader = true
        hadLong ||= columns.values.kind === 'long'
        return
      }
      // The line with the most cells is most likely the header, and says best what is missing.
      if (cells.length > problem.cells) problem = { reason: columns, cells: cells.length }
    }
    linesBefore++
    if (linesBefore === headerLinesMax) throw noHeader()
  }

  function noHeader(): CommandError {
    return new CommandError(printable(`there is no header that can be used: ${problem.reason}`))
  }

  function read(line: string): MappedReading | string | undefined {
    if (layout.isAnnotated === true && (line.trim() === '' || line.startsWith('#'))) {
      linesBefore = 0
      table = undefined
      return undefined
    }
    if (line.trim() === '') return undefined
    if (table === undefined) {
      readHeader(line)
      return undefined
    }
    const cells = splitCells(line, table.separator)
    if (cells === undefined) return 'has quotes that do not match'
    const count = cellCount(cells, table.columnCount)
    return count === table.columnCount ? readCells(cells, table) : cellCountReason(count, table.columnCount)
  }

  return {
    read,
    isLong: () => hadLong,
    ignoredColumns: () => (table === undefined ? [] : [...table.columns.ignored, ...table.textColumns]),
    end() {
      if (!hadHeader) throw noHeader()
    },
  }
}

interface Table {
  columns: TableColumns
  /** Cells of the header. */
  columnCount: number
  separator: Separator
  readTime: ReadTime
  /** Names of columns that nobody has named and that have texts. */
  textColumns: Set<string>
}

function readCells(
  cells: readonly string[],
  { columns, separator, readTime, textColumns }: Table,
): MappedReading | string | undefined {
  const read = new MappedValues()
  const found =
    columns.values.kind === 'long'
      ? readValue(cells, columns.values, separator, read)
      : readValues(cells, columns.values.metrics, separator, read)
  if (typeof found === 'string') return found
  if (columns.values.kind === 'wide') {
    const problem = readOthers(cells, columns.values.others, separator, read, textColumns)
    if (problem !== undefined) return problem
  }
  if (read.isEmpty()) return undefined
  const { values, further } = read
  const device = deviceIn(cells, columns) ?? found?.device
  if (device === undefined || device === '') return 'device is missing'
  const timeUs = readTime((cells[columns.timestamp] ?? '').trim())
  return typeof timeUs === 'string'
    ? `${timeUs}: ${shortened(cells[columns.timestamp] ?? '')}`
    : { device, timeUs, values, further }
}

function deviceIn(cells: readonly string[], { device }: TableColumns): string | undefined {
  if (device === undefined) return undefined
  return 'text' in device ? device.text : (cells[device.column] ?? '').trim()
}

/** Puts the values of a line into their places; says what is wrong with one. */
function readValues(
  cells: readonly string[],
  columns: readonly MetricColumn[],
  separator: Separator,
  read: MappedValues,
): { device: undefined } | string {
  for (const { metric, column, convert } of columns) {
    const value = valueIn(metric, cells[column] ?? '', separator)
    if (typeof value !== 'number') return noNumberReason(metric, cells[column] ?? '', value)
    read.put(metric, convert(value))
  }
  return { device: undefined }
}

function readOthers(
  cells: readonly string[],
  columns: readonly OtherColumn[],
  separator: Separator,
  read: MappedValues,
  textColumns: Set<string>,
): string | undefined {
  for (const { metric, column, name, convert } of columns) {
    const value = valueIn(metric, cells[column] ?? '', separator)
    if (value === ambiguousDirection) return noNumberReason(metric, cells[column] ?? '', value)
    if (value === undefined) textColumns.add(name)
    else read.put(metric, convert(value))
  }
  return undefined
}

/** Puts the one value of a line into its place. */
function readValue(
  cells: readonly string[],
  long: Extract<TableColumns['values'], { kind: 'long' }>,
  separator: Separator,
  read: MappedValues,
): { device: string | undefined } | string | undefined {
  const series = long.seriesOf((cells[long.series] ?? '').trim())
  if (series === undefined) return undefined
  const text = cells[long.value] ?? ''
  const value = valueIn(series.metric, text, separator)
  // An entity whose name ends like a metric may be a switch.
  if (value === undefined && columnOf(series.metric) === -1) return undefined
  if (typeof value !== 'number') return noNumberReason(series.metric, text, value)
  const unit = series.unit ?? (long.unit === undefined ? '' : (cells[long.unit] ?? '').trim())
  const convert = unit === '' ? (same: number) => same : conversionOf(series.metric, unit)
  if (convert === undefined) return `${series.metric} cannot be in ${shortened(unit)}`
  read.put(series.metric, convert(value))
  return { device: series.device }
}

const stateWords = new Map([
  ...['on', 'open', 'true', 'yes', 'detected'].map(word => [word, 1] as const),
  ...['off', 'closed', 'false', 'no', 'clear'].map(word => [word, 0] as const),
])

type Value = number | typeof ambiguousDirection | undefined

/** NaN for a missing one, undefined for another text. A switch says in words whether it is on, and a direction has letters. */
function valueIn(metric: string, cell: string, separator: Separator): Value {
  return numberIn(cell, separator) ?? valueOfWord(metric, cell.trim())
}

function valueOfWord(metric: string, word: string): Value {
  if (isState(metric)) return stateWords.get(word.toLowerCase())
  return catalogueEntry(metric)?.kind === 'direction' ? compassDegrees(word) : undefined
}

function noNumberReason(metric: string, cell: string, value: Exclude<Value, number>): string {
  return `${metric} ${value === undefined ? 'is no number' : ambiguousDirectionReason}: ${shortened(cell)}`
}

function numberIn(cell: string, separator: Separator): number | undefined {
  const text = cell.trim()
  if (isMissing(text)) return Number.NaN
  const bytes = Buffer.from(separator === ',' ? text : text.replace(',', '.'))
  const value = readNumber(bytes, 0, bytes.length)
  return Number.isNaN(value) ? undefined : value
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39).toWellFormed()}…` : text
}
