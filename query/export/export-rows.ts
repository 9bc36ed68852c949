/** Reads stored readings for an export, inside its thread: some at a time, in the order of time and then of devices. */

import assert from 'node:assert/strict'
import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { metrics, readingsTable } from '../../store/tables.ts'
import { QueryFailed } from '../query-failed.ts'
import type { ColumnsReader } from '../questdb/columns-reader.ts'
import { quoted, whole } from '../questdb/sql-literals.ts'
import type { ExportRange } from './export-queries.ts'

/** Columns of the same length. */
export interface ExportRows {
  readonly timesUs: Float64Array
  /** The registry's number of the device. */
  readonly devices: Float64Array
  /** By metric, in the order of the table's columns; NaN for a missing value. */
  readonly values: readonly Float64Array[]
  /** The positions of the rows in their order. */
  readonly order: Uint32Array
}

export interface ReadPiece {
  readonly rows: ExportRows
  /** Where the next rows begin; undefined when there are none. */
  readonly nextUs: number | undefined
}

/** As many devices as a registry may have. */
const rowsOfOneTimeMax = 1_000_000
/** A symbol ends with the number of its device. */
const columnsSql = `cast(ts AS DOUBLE) time, cast(split_part(cast(device AS STRING), '-', -1) AS DOUBLE) number, ${metrics.join(', ')}`
const columnCount = 2 + metrics.length

/**
 * The first rows of the range, not many more than `rowsMax`: those of one time are never parted, so that the next piece
 * begins behind a time, whatever has come in meanwhile.
 */
export async function readPiece(
  reader: Pick<ColumnsReader, 'read'>,
  range: ExportRange,
  rowsMax: number,
  signal: AbortSignal,
): Promise<ReadPiece> {
  const columns = await readColumns(reader, range, rowsMax + 1, signal)
  const [timesUs] = columns
  if (timesUs.length <= rowsMax) return { rows: ordered(columns, timesUs.length), nextUs: undefined }
  const lastUs = timesUs[rowsMax] as number
  const end = timesUs.indexOf(lastUs)
  if (end > 0) return { rows: ordered(columns, end), nextUs: lastUs }
  const ofOneTime = await readColumns(
    reader,
    { ...range, fromUs: lastUs, toUs: lastUs + 1 },
    rowsOfOneTimeMax + 1,
    signal,
  )
  const { length } = ofOneTime[0]
  if (length > rowsOfOneTimeMax)
    throw new QueryFailed('TOO_LARGE', `more than ${rowsOfOneTimeMax} readings of one time`)
  return { rows: ordered(ofOneTime, length), nextUs: lastUs + 1 }
}

export async function countRows(connection: PgConnection, range: ExportRange, signal: AbortSignal): Promise<number> {
  let count = 0
  const text = `SELECT count() FROM ${readingsTable} ${whereSql(range)}`
  await connection.read({ text, values: [] }, signal, ([rows]) => {
    count = Number(rows)
  })
  return count
}

async function readColumns(
  reader: Pick<ColumnsReader, 'read'>,
  range: ExportRange,
  limit: number,
  signal: AbortSignal,
): Promise<[Float64Array, ...Float64Array[]]> {
  const sql = `SELECT ${columnsSql} FROM ${readingsTable} ${whereSql(range)} LIMIT ${whole(limit)}`
  return await reader.read({ sql, columnCount, rowsMax: limit }, signal)
}

function whereSql({ fromUs, toUs, symbols }: ExportRange): string {
  const time = `WHERE ts >= ${whole(fromUs)} AND ts < ${whole(toUs)}`
  return symbols === undefined ? time : `${time} AND device IN (${symbols.map(quoted).join(', ')})`
}

/** The first so many rows. QuestDB gives those of one time in any order. */
function ordered([timesUs, ...others]: readonly [Float64Array, ...Float64Array[]], length: number): ExportRows {
  const [devices, ...values] = others as [Float64Array, ...Float64Array[]]
  const order = new Uint32Array(length)
  for (let start = 0; start < length; ) {
    let end = start
    while (end < length && timesUs[end] === timesUs[start]) order[end] = end++
    assert(end === length || (timesUs[end] as number) > (timesUs[start] as number), 'rows came out of order')
    if (end - start > 1) order.subarray(start, end).sort((a, b) => (devices[a] as number) - (devices[b] as number))
    start = end
  }
  return { timesUs, devices, values, order }
}
