/** Reads a foreign file of lines and cells, line by line: what of it is a reading, and what is wrong with the others. */

import { type Separator, separators, splitCells } from '../../ingest/formats/csv.ts'
import { readNumber } from '../../ingest/formats/number.ts'
import { metrics } from '../../store/tables.ts'
import { CommandError } from '../command-error.ts'
import { printable } from '../output.ts'
import type { MappedReading } from './mapped-reading.ts'
import type { Mapping } from './mapping.ts'
import type { Layout } from './presets.ts'
import { findColumns, type MetricColumn, type TableColumns } from './table-columns.ts'
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
const missing = new Set(['', '-', '--', '---', 'null', 'nan', 'n/a', 'none', 'unknown', 'unavailable'])

export function createTableReader(layout: Layout, mapping: Mapping, zone: string | undefined): TableReader {
  let table: Table | undefined
  let hadHeader = false
  // Of several tables, one may have what another one lacks.
  let hadLong = layout.isAnnotated === true
  let linesBefore = 0
  let problem = { reason: 'the file is empty', cells: 0 }

  function readHeader(line: string): void {
    for (const separator of separators) {
      const cells = splitCells(line, separator)
      if (cells === undefined) continue
      const columns = findColumns(cells, layout, mapping)
      if (typeof columns !== 'string') {
        table = { columns, separator, readTime: createTimeReader(columns.timeFormat, zone) }
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
    return readCells(cells, table)
  }

  return {
    read,
    isLong: () => hadLong,
    ignoredColumns: () => table?.columns.ignored ?? [],
    end() {
      if (!hadHeader) throw noHeader()
    },
  }
}

interface Table {
  columns: TableColumns
  separator: Separator
  readTime: ReadTime
}

function readCells(
  cells: readonly string[],
  { columns, separator, readTime }: Table,
): MappedReading | string | undefined {
  const values = new Float64Array(metrics.length).fill(Number.NaN)
  const found =
    columns.values.kind === 'long'
      ? readValue(cells, columns.values, separator, values)
      : readValues(cells, columns.values.metrics, separator, values)
  if (typeof found === 'string') return found
  if (values.every(Number.isNaN)) return undefined
  const device = deviceIn(cells, columns) ?? found?.device
  if (device === undefined || device === '') return 'device is missing'
  const timeUs = readTime((cells[columns.timestamp] ?? '').trim())
  return typeof timeUs === 'string'
    ? `${timeUs}: ${shortened(cells[columns.timestamp] ?? '')}`
    : { device, timeUs, values }
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
  values: Float64Array,
): { device: undefined } | string {
  for (const { metric, column, convert } of columns) {
    const value = numberIn(cells[column] ?? '', separator)
    if (value === undefined) return `${metrics[metric]} is no number: ${shortened(cells[column] ?? '')}`
    values[metric] = convert(value)
  }
  return { device: undefined }
}

/** Puts the one value of a line into its place. */
function readValue(
  cells: readonly string[],
  long: Extract<TableColumns['values'], { kind: 'long' }>,
  separator: Separator,
  values: Float64Array,
): { device: string | undefined } | string | undefined {
  const series = long.seriesOf((cells[long.series] ?? '').trim())
  if (series === undefined) return undefined
  const text = cells[long.value] ?? ''
  const value = numberIn(text, separator)
  // A sensor that is away says so in words.
  if (value === undefined) return `${series.metric} is no number: ${shortened(text)}`
  const unit = series.unit ?? (long.unit === undefined ? '' : (cells[long.unit] ?? '').trim())
  const convert = unit === '' ? (same: number) => same : conversionOf(series.metric, unit)
  if (convert === undefined) return `${series.metric} cannot be in ${shortened(unit)}`
  values[metrics.indexOf(series.metric)] = convert(value)
  return { device: series.device }
}

/** NaN for a missing one, undefined for another text. */
function numberIn(cell: string, separator: Separator): number | undefined {
  const text = cell.trim()
  if (missing.has(text.toLowerCase())) return Number.NaN
  const bytes = Buffer.from(separator === ',' ? text : text.replace(',', '.'))
  const value = readNumber(bytes, 0, bytes.length)
  return Number.isNaN(value) ? undefined : value
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39).toWellFormed()}…` : text
}
