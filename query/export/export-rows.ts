/** Reads stored readings inside a thread, some at a time, ordered by time and then by device. */

import { bug } from '../../store/limits/bug.ts'
import { readingsTable } from '../../store/tables.ts'
import type { ReplicaReads } from '../contexts.ts'
import { QueryFailed } from '../query-failed.ts'
import { eachCustomValue } from '../questdb/measurements-source.ts'
import { measurementValues, quoted, timeLimit, type ValuesTable, whole } from '../questdb/values-table.ts'
import { pointValues } from '../stations/point-units.ts'
import { timesFromSql } from '../stations/station-times.ts'
import type { ExportContent, ExportRange, ExportRows, ReadPiece } from './export-queries.ts'
import {
  deviceAt,
  type ExportMetric,
  isBuiltIn,
  metricAt,
  placeOfSeries,
  type SeriesTable,
  seriesToName,
} from './series-table.ts'

/** The largest number of devices in a registry. */
const rowsOfOneTimeMax = 1_000_000
/** A symbol ends with the number of its device. */
function keySql({ station }: ExportRange): string {
  const number =
    station === undefined
      ? `cast(split_part(cast(device AS STRING), '-', -1) AS DOUBLE)`
      : `cast(${whole(station.id)} AS DOUBLE)`
  return `cast(ts AS DOUBLE) time, ${number} number`
}

interface RangeOfColumns extends ExportRange {
  readonly columns: readonly string[]
}

export async function readRows(
  reader: ReplicaReads['reader'],
  asked: ExportRange & ExportContent,
  rowsMax: number,
  signal: AbortSignal,
): Promise<ReadPiece> {
  const columns = asked.metrics.filter(isBuiltIn).map(({ name }) => name)
  const { rows, ...piece } = await readReadings(reader, { ...asked, columns }, rowsMax, signal)
  return { ...piece, rows: await withCustom(reader, rows, { ...asked, table: valuesTableOf(asked) }, signal) }
}

function tooManyOfOneTime(): QueryFailed {
  return new QueryFailed('TOO_LARGE', `more than ${rowsOfOneTimeMax} readings of one time`)
}

/**
 * The first rows of the range, not many more than `rowsMax`. Rows of one time stay together, so that the next piece
 * begins behind a time even if readings arrive meanwhile.
 */
async function readReadings(
  reader: ReplicaReads['reader'],
  range: RangeOfColumns,
  rowsMax: number,
  signal: AbortSignal,
): Promise<ReadPiece> {
  const columns = await readColumns(reader, range, rowsMax + 1, signal)
  const [timesUs] = columns
  if (timesUs.length <= rowsMax) return readOf(ordered(columns, timesUs.length), undefined)
  const lastUs = timesUs[rowsMax] as number
  const end = timesUs.indexOf(lastUs)
  if (end > 0) return readOf(ordered(columns, end), lastUs)
  const ofOneTime = await readColumns(
    reader,
    { ...range, fromUs: lastUs, toUs: lastUs + 1 },
    rowsOfOneTimeMax + 1,
    signal,
  )
  const { length } = ofOneTime[0]
  if (length > rowsOfOneTimeMax) throw tooManyOfOneTime()
  return readOf(ordered(ofOneTime, length), lastUs + 1)
}

function readOf(rows: ExportRows, nextUs: number | undefined): ReadPiece {
  return { rows, readingsRead: rows.order.length, nextUs }
}

export async function countRows(
  connection: ReplicaReads['connection'],
  range: ExportRange,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  await connection.read({ text: `SELECT count() FROM ${rowsFromSql(range)}`, values: [] }, signal, ([rows]) => {
    count = Number(rows)
  })
  return count
}

async function readColumns(
  reader: ReplicaReads['reader'],
  range: RangeOfColumns,
  limit: number,
  signal: AbortSignal,
): Promise<[Float64Array, ...Float64Array[]]> {
  const columnsSql = [keySql(range), ...range.columns].join(', ')
  const sql = `SELECT ${columnsSql} FROM ${rowsFromSql(range)} LIMIT ${whole(limit)}`
  return await reader.read({ sql, columnCount: 2 + range.columns.length, rowsMax: limit }, signal)
}

/** Used behind FROM: readings, or the times of points, by time. */
export function rowsFromSql({ fromUs, toUs, symbols, station }: ExportRange): string {
  if (station !== undefined) {
    const series = station.units.map(([number]) => number)
    return timesFromSql(valuesTableOf({ station }), { fromUs, toUs, series })
  }
  const where = `WHERE ts >= ${timeLimit(fromUs)} AND ts < ${timeLimit(toUs)}`
  const ofDevices = symbols === undefined ? '' : ` AND device IN (${symbols.map(quoted).join(', ')})`
  return `${readingsTable} ${where}${ofDevices}`
}

/** The table of values without a column in the table of readings. */
export function valuesTableOf({ station }: Pick<ExportRange, 'station'>): ValuesTable {
  return station === undefined ? measurementValues : pointValues(new Map(station.units))
}

/** The first `length` rows. QuestDB returns rows of one time in any order. */
function ordered([timesUs, ...others]: readonly [Float64Array, ...Float64Array[]], length: number): ExportRows {
  const [devices, ...values] = others as [Float64Array, ...Float64Array[]]
  const order = new Uint32Array(length)
  for (let start = 0; start < length; ) {
    let end = start
    while (end < length && timesUs[end] === timesUs[start]) order[end] = end++
    if (end < length && !((timesUs[end] as number) > (timesUs[start] as number))) {
      throw bug(`rows out of order: ${timesUs[end]} after ${timesUs[start]}`)
    }
    if (end - start > 1) order.subarray(start, end).sort((a, b) => (devices[a] as number) - (devices[b] as number))
    start = end
  }
  return { timesUs, devices, values, order }
}

/** Rows of an export; see export-rows.ts. */
interface Rows {
  readonly timesUs: Float64Array
  readonly devices: Float64Array
  readonly order: Uint32Array
}

interface RowsWithValues extends Rows {
  /** One array for each column. */
  readonly values: readonly Float64Array[]
}

interface CustomAsked {
  readonly metrics: readonly ExportMetric[]
  readonly series: SeriesTable
  readonly table: ValuesTable
}

/** Returns a column for each metric; columns that the rows lack are read here. */
async function withCustom(
  reader: ReplicaReads['reader'],
  { values: ofBuiltIn, ...rows }: RowsWithValues,
  { metrics, series, table }: CustomAsked,
  signal: AbortSignal,
): Promise<RowsWithValues> {
  const { timesUs, order } = rows
  let next = 0
  const values = metrics.map(metric => {
    return isBuiltIn(metric) ? (ofBuiltIn[next++] as Float64Array) : new Float64Array(timesUs.length).fill(Number.NaN)
  })
  if (order.length === 0 || series.length === 0) return { ...rows, values }
  const fromUs = timesUs[order[0] as number] as number
  const toUs = (timesUs[order.at(-1) as number] as number) + 1
  const rowOf = createRowFinder(rows)
  const take = (timeUs: number, ofSeries: number, value: number) => {
    const place = placeOfSeries(series, ofSeries)
    if (place < 0) return
    const row = rowOf(timeUs, deviceAt(series, place))
    if (row >= 0) (values[metricAt(series, place)] as Float64Array)[row] = value
  }
  await eachCustomValue(reader, { fromUs, toUs, series: seriesToName(series), table }, take, signal)
  return { ...rows, values }
}

/** Finds the row of a device at times that ascend; -1 where there is none. */
function createRowFinder({ timesUs, devices, order }: Rows): (timeUs: number, device: number) => number {
  /** The first row, in their order, that is not before the last time. */
  let at = 0

  function isBefore(place: number, timeUs: number, device: number): boolean {
    const row = order[place] as number
    const rowUs = timesUs[row] as number
    return rowUs < timeUs || (rowUs === timeUs && (devices[row] as number) < device)
  }

  return (timeUs, device) => {
    while (at < order.length && isBefore(at, timeUs, 0)) at++
    let low = at
    let high = at
    // The steps double: in a range of one device, the first row mostly matches.
    for (let step = 1; high < order.length && isBefore(high, timeUs, device); step *= 2) {
      low = high + 1
      high = Math.min(order.length, high + step)
    }
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(middle, timeUs, device)) low = middle + 1
      else high = middle
    }
    const row = order[low]
    return row !== undefined && timesUs[row] === timeUs && devices[row] === device ? row : -1
  }
}
