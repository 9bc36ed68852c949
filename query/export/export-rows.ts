/** Reads stored readings, or their aggregates by buckets of time, inside a thread: some at a time, in the order of time and then of devices. */

import { bug } from '../../limits/bug.ts'
import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { readingsTable } from '../../store/tables.ts'
import { QueryFailed } from '../query-failed.ts'
import type { ColumnsReader } from '../questdb/columns-reader.ts'
import { quoted, whole } from '../questdb/sql-literals.ts'
import { measurementValues, type ValuesTable } from '../questdb/values-table.ts'
import { pointValues } from '../stations/point-units.ts'
import { timesFromSql } from '../stations/station-times.ts'
import { columnsOf, isBuiltIn } from './export-columns.ts'
import type { ExportContent, ExportRange } from './export-queries.ts'
import { fillFurtherBuckets } from './further-buckets.ts'
import { withFurther } from './further-columns.ts'

/** Columns of the same length. */
export interface ExportRows {
  readonly timesUs: Float64Array
  /** The registry's number of the device. */
  readonly devices: Float64Array
  /** By column, in the order of `columnsOf`; NaN for a missing value. */
  readonly values: readonly Float64Array[]
  /** The positions of the rows in their order. */
  readonly order: Uint32Array
}

export interface ReadPiece {
  readonly rows: ExportRows
  readonly readingsRead: number
  /** Where the next rows begin; undefined when there are none. */
  readonly nextUs: number | undefined
}

/** As many devices as a registry may have. */
const rowsOfOneTimeMax = 1_000_000
/** A symbol ends with the number of its device. */
function keySql({ station }: ExportRange): string {
  const number =
    station === undefined
      ? `cast(split_part(cast(device AS STRING), '-', -1) AS DOUBLE)`
      : `cast(${whole(station.id)} AS DOUBLE)`
  return `cast(ts AS DOUBLE) time, ${number} number`
}

/** Some columns of the table of readings of some of them. */
interface RangeOfColumns extends ExportRange {
  readonly columns: readonly string[]
}

export async function readPiece(
  reader: Pick<ColumnsReader, 'read'>,
  asked: ExportRange & ExportContent,
  stepUs: number | undefined,
  rowsMax: number,
  signal: AbortSignal,
): Promise<ReadPiece> {
  if (stepUs !== undefined) return readBuckets(reader, asked, stepUs, rowsMax, signal)
  const { metrics, series } = asked
  const columns = metrics.filter(isBuiltIn).map(({ name }) => name)
  const { rows, ...piece } = await readReadings(reader, { ...asked, columns }, rowsMax, signal)
  return { ...piece, rows: await withFurther(reader, rows, metrics, series, valuesTableOf(asked), signal) }
}

/**
 * The first rows of the range, not many more than `rowsMax`: those of one time are never parted, so that the next piece
 * begins behind a time, whatever has come in meanwhile.
 */
async function readReadings(
  reader: Pick<ColumnsReader, 'read'>,
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
  if (length > rowsOfOneTimeMax)
    throw new QueryFailed('TOO_LARGE', `more than ${rowsOfOneTimeMax} readings of one time`)
  return readOf(ordered(ofOneTime, length), lastUs + 1)
}

function readOf(rows: ExportRows, nextUs: number | undefined): ReadPiece {
  return { rows, readingsRead: rows.order.length, nextUs }
}

/**
 * As many buckets as a piece may have rows, whether there are readings in them or not, so that no reading is aggregated for
 * two pieces. They are aligned to 1970; the first and the last one have the aggregates of what is in the range.
 */
async function readBuckets(
  reader: Pick<ColumnsReader, 'read'>,
  range: ExportRange & ExportContent,
  stepUs: number,
  rowsMax: number,
  signal: AbortSignal,
): Promise<ReadPiece> {
  const step = whole(stepUs)
  const toUs = Math.min(range.toUs, (Math.floor(range.fromUs / step) + rowsMax) * step)
  const columns = columnsOf(stepUs, range.metrics)
  const ofReadings = columns.filter(({ sql }) => sql !== undefined)
  const aggregates = ['count() readings', ...ofReadings.map(({ sql }) => sql)].join(', ')
  const bucketsSql = `SELECT cast(ts AS LONG) / ${step} * ${step} bucket, ${aggregates}
    FROM ${rowsFromSql({ ...range, toUs })} GROUP BY bucket`
  const names = ['bucket', 'readings', ...ofReadings.map(({ name }) => name)]
  const sql = `SELECT ${names.map(name => `cast(${name} AS DOUBLE) ${name}`).join(', ')} FROM (${bucketsSql}) ORDER BY bucket`
  const columnCount = names.length
  const [timesUs, readings, ...figures] = (await reader.read({ sql, columnCount, rowsMax }, signal)) as Float64Array[]
  if (timesUs === undefined || readings === undefined) throw bug(`${columnCount} columns came without the first two`)
  for (const [index, { isCount }] of ofReadings.entries()) if (isCount) withoutZeros(figures[index])
  const values = columns.map(column => {
    const index = ofReadings.indexOf(column)
    return index < 0 ? new Float64Array(timesUs.length).fill(Number.NaN) : (figures[index] as Float64Array)
  })
  const buckets = { ...range, toUs, stepUs, table: valuesTableOf(range) }
  await fillFurtherBuckets(reader, buckets, columns, { timesUs, values }, signal)
  const rows = {
    timesUs,
    values,
    devices: new Float64Array(timesUs.length).fill(onlyDevice(range)),
    order: Uint32Array.from(timesUs.keys()),
  }
  const readingsRead = readings.reduce((sum, count) => sum + count, 0)
  return { rows, readingsRead, nextUs: toUs < range.toUs ? toUs : undefined }
}

/** A metric without values in a bucket has no aggregates there, and so no count either. */
function withoutZeros(counts: Float64Array | undefined): void {
  for (const [row, count] of counts?.entries() ?? []) if (count === 0) counts?.fill(Number.NaN, row, row + 1)
}

function onlyDevice({ symbols, station }: ExportRange): number {
  if (station !== undefined) return station.id
  if (symbols?.length !== 1) throw bug(`buckets are of ${symbols?.length ?? 'all'} devices`)
  return Number(symbols[0]?.split('-').at(-1))
}

export async function countRows(connection: PgConnection, range: ExportRange, signal: AbortSignal): Promise<number> {
  let count = 0
  const text = `SELECT count() FROM ${rowsFromSql(range)}`
  await connection.read({ text, values: [] }, signal, ([rows]) => {
    count = Number(rows)
  })
  return count
}

async function readColumns(
  reader: Pick<ColumnsReader, 'read'>,
  range: RangeOfColumns,
  limit: number,
  signal: AbortSignal,
): Promise<[Float64Array, ...Float64Array[]]> {
  const columnsSql = [keySql(range), ...range.columns].join(', ')
  const sql = `SELECT ${columnsSql} FROM ${rowsFromSql(range)} LIMIT ${whole(limit)}`
  return await reader.read({ sql, columnCount: 2 + range.columns.length, rowsMax: limit }, signal)
}

/** To stand behind FROM: readings, or the times of points, by time. */
function rowsFromSql({ fromUs, toUs, symbols, station }: ExportRange): string {
  if (station !== undefined) {
    const series = station.units.map(([number]) => number)
    return `(SELECT ts FROM ${timesFromSql(valuesTableOf({ station }), { fromUs, toUs, series })} ORDER BY ts)`
  }
  const where = `WHERE ts >= ${whole(fromUs)} AND ts < ${whole(toUs)}`
  const ofDevices = symbols === undefined ? '' : ` AND device IN (${symbols.map(quoted).join(', ')})`
  return `${readingsTable} ${where}${ofDevices}`
}

/** Of values that have no column in the table of readings. */
function valuesTableOf({ station }: Pick<ExportRange, 'station'>): ValuesTable {
  return station === undefined ? measurementValues : pointValues(new Map(station.units))
}

/** The first so many rows. QuestDB gives those of one time in any order. */
function ordered([timesUs, ...others]: readonly [Float64Array, ...Float64Array[]], length: number): ExportRows {
  const [devices, ...values] = others as [Float64Array, ...Float64Array[]]
  const order = new Uint32Array(length)
  for (let start = 0; start < length; ) {
    let end = start
    while (end < length && timesUs[end] === timesUs[start]) order[end] = end++
    if (end < length && !((timesUs[end] as number) > (timesUs[start] as number))) {
      throw bug(`a row at ${timesUs[end]} comes behind one at ${timesUs[start]}`)
    }
    if (end - start > 1) order.subarray(start, end).sort((a, b) => (devices[a] as number) - (devices[b] as number))
    start = end
  }
  return { timesUs, devices, values, order }
}
