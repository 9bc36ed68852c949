/** Reads a foreign table line by line, into readings and faults. */

import { isMissing } from '../../ingest/formats/csv.ts'
import { type DecimalMark, readMarkedNumber } from '../../ingest/formats/number.ts'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { ambiguousDirection, ambiguousDirectionReason, compassDegrees } from '../../store/metrics/compass.ts'
import { unchanged } from '../../store/metrics/units.ts'
import { ValueColumns } from '../value-columns.ts'
import { columnOf, type MappedReading, MappedValues } from './mapped-reading.ts'
import { isState, type MappingOptions } from './mapping-options.ts'
import type { MappedSeries } from './table-columns.ts'
import { type RowSeries, seriesIn, seriesKey, type Table, TableLines, type TableRow, timeIn } from './table-lines.ts'
import type { SettledTable } from './table-survey.ts'
import { createTimeReader, type MomentsOf, type ReadTime, type TimeFormat } from './times.ts'
import { conversionOf } from './units.ts'

export interface TableReader {
  /** A reading, the fault of the line, or undefined for a line without values. Throws a CommandError for the file. */
  read(text: string, line: number): MappedReading | string | undefined
  /** True if a reading may be parted over several lines. */
  isLong(): boolean
  ignoredColumns(): readonly string[]
  /** Names of ignored columns that hold numbers or times. */
  unreadColumns(): readonly string[]
  /** Throws a CommandError for a file without a header. */
  end(): void
}

/** `settled`: by a survey of the same lines. */
export function createTableReader(options: MappingOptions, settled: SettledTable): TableReader {
  const lines = new TableLines(options)
  const readTime = createRowTimeReader(options, settled)
  const ignored = new Set<string>()
  const valueColumns = new ValueColumns()
  let last: Table | undefined

  function read(text: string, line: number): MappedReading | string | undefined {
    const row = lines.next(text, line)
    if (row === undefined || typeof row === 'string') return row
    if (row.table !== last) for (const name of row.table.columns.ignored) ignored.add(name)
    last = row.table
    valueColumns.note(row.table.columns.names, row.cells)
    const series = seriesIn(row)
    if (series === undefined) return undefined
    // First of all, because the repeated hours count the lines of the survey.
    const timeUs = readTime(row, series)
    return readCells(row, series, timeUs)
  }

  function readCells(row: TableRow, series: RowSeries, timeUs: number | string): MappedReading | string | undefined {
    const put = new MappedValues()
    const problem =
      series.value === undefined
        ? putValues(row, settled, put, ignored)
        : putValue(row, series.value, options, settled, put)
    if (problem !== undefined) return problem
    if (put.isEmpty()) return undefined
    const { values, custom } = put
    const { device } = series
    if (device === undefined) return 'device is missing'
    return typeof timeUs === 'string' ? timeUs : { device, timeUs, values, custom }
  }

  return {
    read,
    isLong: () => lines.isLong(),
    ignoredColumns: () => [...ignored],
    unreadColumns: () => valueColumns.among([...ignored]),
    end: () => lines.end(),
  }
}

/** Epoch microseconds, or the fault of the time. */
function createRowTimeReader({ zone, ambiguous }: MappingOptions, { order, momentsOf, turnOf }: SettledTable) {
  const readers = new Map<TimeFormat, ReadTime>()

  function readerOf(format: TimeFormat): ReadTime {
    const reader = readers.get(format) ?? createTimeReader(format, order)
    readers.set(format, reader)
    return reader
  }

  return (row: TableRow, series: RowSeries): number | string => {
    const text = timeIn(row)
    if (text === undefined) return 'timestamp has no time of day'
    const read = readerOf(row.table.columns.timeFormat)(text)
    if (typeof read === 'string') return `${read}: ${shortened(text)}`
    const found = read.isLocal && momentsOf !== undefined ? momentOf(read.us, momentsOf, series) : read.us
    return typeof found === 'string' ? `${found}: ${shortened(text)}` : found
  }

  function momentOf(localUs: number, moments: MomentsOf, series: RowSeries): number | string {
    const [first, second = first] = moments(localUs)
    if (first === undefined || second === undefined) return `timestamp: there is no such time in ${zone}`
    const turn = turnOf(seriesKey(series), localUs, second - first)
    if (first === second) return first
    if (turn !== undefined) return turn === 'first' ? first : second
    if (ambiguous !== undefined) return ambiguous === 'earlier' ? first : second
    const answers = 'send UTC, an offset, or --ambiguous earlier|later'
    return `timestamp comes twice in ${zone}, and the order of lines does not decide; ${answers}`
  }
}

/** Stores the values of a line, and returns the fault of an invalid one. */
function putValues(
  { table: { columns }, cells }: TableRow,
  { mark }: SettledTable,
  put: MappedValues,
  textColumns: Set<string>,
): string | undefined {
  if (columns.values.kind === 'long') return undefined
  for (const { metric, column, convert } of columns.values.metrics) {
    const value = valueIn(metric, cells[column] ?? '', mark)
    if (typeof value !== 'number') return noNumberReason(metric, cells[column] ?? '', value)
    put.put(metric, convert(value))
  }
  for (const { metric, column, name, convert } of columns.values.others) {
    const value = valueIn(metric, cells[column] ?? '', mark)
    if (value === ambiguousDirection) return noNumberReason(metric, cells[column] ?? '', value)
    // The column is not mapped, so a text there is not a fault of the line.
    if (value === undefined) textColumns.add(name)
    else put.put(metric, convert(value))
  }
  return undefined
}

/** Puts the one value of a line into its place. */
function putValue(
  { table: { columns }, cells }: TableRow,
  { metric, unit: stated }: MappedSeries,
  { units }: MappingOptions,
  { mark }: SettledTable,
  put: MappedValues,
): string | undefined {
  if (columns.values.kind === 'wide') return undefined
  const text = cells[columns.values.value] ?? ''
  const value = valueIn(metric, text, mark)
  // An entity whose name ends like a metric may be a switch.
  if (value === undefined && columnOf(metric) === -1) return undefined
  if (typeof value !== 'number') return noNumberReason(metric, text, value)
  const { unit: unitColumn } = columns.values
  const inLine = unitColumn === undefined ? '' : (cells[unitColumn] ?? '').trim()
  const unit = stated ?? (inLine === '' ? units.get(metric) : inLine)
  const convert = unit === undefined ? unchanged : conversionOf(metric, unit)
  if (convert === undefined) return `${metric} cannot be in ${shortened(unit ?? '')}`
  put.put(metric, convert(value))
  return undefined
}

const stateWords = new Map([
  ...['on', 'open', 'true', 'yes', 'detected'].map(word => [word, 1] as const),
  ...['off', 'closed', 'false', 'no', 'clear'].map(word => [word, 0] as const),
])

type Value = number | typeof ambiguousDirection | undefined

/** NaN for a missing one, undefined for another text. A switch has words, and a direction has letters. */
function valueIn(metric: string, cell: string, mark: DecimalMark | undefined): Value {
  return numberIn(cell, mark) ?? valueOfWord(metric, cell.trim())
}

function valueOfWord(metric: string, word: string): Value {
  if (isState(metric)) return stateWords.get(word.toLowerCase())
  return catalogueEntry(metric)?.kind === 'direction' ? compassDegrees(word) : undefined
}

function noNumberReason(metric: string, cell: string, value: Exclude<Value, number>): string {
  return `${metric} ${value === undefined ? 'is not a number' : ambiguousDirectionReason}: ${shortened(cell)}`
}

function numberIn(cell: string, mark: DecimalMark | undefined): number | undefined {
  const text = cell.trim()
  if (isMissing(text)) return Number.NaN
  const value = readMarkedNumber(text, mark)
  return Number.isNaN(value) ? undefined : value
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39).toWellFormed()}…` : text
}
