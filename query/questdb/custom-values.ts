/**
 * Values of metrics without a column, fetched in a worker. Our code joins them with their readings by time: for a month
 * of minutes that takes about as long as a pivot and a join in SQL.
 */

import { bug } from '../../store/limits/bug.ts'
import { QueryFailed } from '../query-failed.ts'
import type { ColumnsReader } from './columns-reader.ts'
import { whole } from './sql-literals.ts'
import { measurementValues, type ValuesRange, type ValuesTable, valuesFromSql } from './values-table.ts'

export interface CustomRange extends ValuesRange {
  /** The table of measurements by default. */
  readonly table?: ValuesTable
}

/** Called with each value; values of one time come in any order. */
export type TakeCustom = (timeUs: number, series: number, value: number) => void

/** Rows of a statement, of 24 bytes each. */
const chunkRows = 200_000
/** The most rows of one time: all metrics of 100,000 devices with equal timestamps, 150 MB. */
const rowsOfOneTimeMax = 6_400_000

/** Passes all values of a range, each once, ascending by time and in chunks. Rejects with a QuestdbError. */
export async function eachCustomValue(
  reader: Pick<ColumnsReader, 'read'>,
  { fromUs, ...range }: CustomRange,
  take: TakeCustom,
  signal: AbortSignal,
  rowsMax = chunkRows,
): Promise<void> {
  if (range.series?.length === 0) return
  let nextUs = fromUs
  let limit = rowsMax
  for (;;) {
    const rows = await readRows(reader, { ...range, fromUs: nextUs }, limit, signal)
    const [timesUs] = rows
    if (timesUs.length < limit) return takeRows(rows, timesUs.length, take)
    const lastUs = timesUs.at(-1) as number
    // Rows of one time stay together, so the next statement begins with a new time.
    const end = timesUs.indexOf(lastUs)
    takeRows(rows, end, take)
    if (end > 0) {
      limit = rowsMax
    } else {
      if (limit >= rowsOfOneTimeMax) throw new QueryFailed('TOO_LARGE', `more than ${limit} values of one time`)
      limit = Math.min(2 * limit, rowsOfOneTimeMax)
    }
    nextUs = lastUs
  }
}

type Rows = readonly [Float64Array, Float64Array, Float64Array]

async function readRows(
  reader: Pick<ColumnsReader, 'read'>,
  range: CustomRange,
  limit: number,
  signal: AbortSignal,
): Promise<Rows> {
  const sql = customValuesSql(range, limit)
  return (await reader.read({ sql, columnCount: 3, rowsMax: limit }, signal)) as unknown as Rows
}

function takeRows([timesUs, series, values]: Rows, end: number, take: TakeCustom): void {
  let beforeUs = Number.NEGATIVE_INFINITY
  for (let row = 0; row < end; row++) {
    const timeUs = timesUs[row] as number
    if (!(timeUs >= beforeUs)) throw bug(`values out of order: ${timeUs} after ${beforeUs}`)
    beforeUs = timeUs
    take(timeUs, series[row] as number, values[row] as number)
  }
}

/** Three columns of doubles, ordered by time: time in microseconds, number of the series, value. */
export function customValuesSql({ table = measurementValues, ...range }: CustomRange, limit: number): string {
  const columns = 'cast(ts AS DOUBLE) time, cast(series AS DOUBLE) series, value'
  return `SELECT ${columns} FROM ${valuesFromSql(table, range)} LIMIT ${whole(limit)}`
}
