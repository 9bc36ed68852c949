/**
 * Values of metrics without a column, fetched in a worker by series number. Values of replaced readings are left out.
 */

import type { Samples } from '../../analytics/present.ts'
import { bug } from '../../store/limits/bug.ts'
import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { expiredSeriesHoursTable, type SeriesHourColumn, seriesHourColumns } from '../../store/tables.ts'
import { QueryFailed } from '../query-failed.ts'
import type { HourlyColumns } from '../series.ts'
import { type HourSources, hoursMax } from './hourly-sql.ts'
import type { ColumnsReader } from './questdb-export.ts'
import {
  measurementValues,
  timeLimit,
  type ValuesRange,
  type ValuesTable,
  valuesFromSql,
  whole,
} from './values-table.ts'

interface SamplesRequest {
  readonly series: readonly number[]
  /** The start is not part of the range. */
  readonly afterUs: number
  /** The end is part of the range. */
  readonly throughUs: number
  /** More values than this are TOO_LARGE. */
  readonly rowsMax: number
}

/** One row for each UTC hour with a value, ascending. */
export interface SeriesHours extends HourlyColumns {
  /** Milliseconds since 1970. */
  readonly startsMs: Float64Array
}

/** The kept hours of a series' expired values, one row for each hour with a value, ascending. */
export interface KeptHours {
  /** Milliseconds since 1970, like the times of the first and the last value. */
  readonly startsMs: Float64Array
  readonly columns: Readonly<Record<SeriesHourColumn, Float64Array>>
}

interface EndRequest {
  readonly series: number
  /** Unlimited without it. */
  readonly samplesMax?: number
  /** The start is not part of the range. */
  readonly afterUs: number
  /** The end is part of the range. */
  readonly throughUs: number
}

/** Times are in milliseconds, ascending. Rejects with a QueryFailed or a QuestdbError for external failures. */
export interface MeasurementsSource {
  /** Keys are series. A series without a value has no entry. */
  samples(asked: SamplesRequest, signal: AbortSignal): Promise<ReadonlyMap<number, Samples>>
  /** Keys are series. Expired hours come from the kept ones, others are computed from the values. */
  hours(asked: SeriesHoursRequest, signal: AbortSignal): Promise<ReadonlyMap<number, SeriesHours>>
  /** Keys are series. The hours summarize expired values. */
  keptHours(asked: SeriesHoursRequest, signal: AbortSignal): Promise<ReadonlyMap<number, KeptHours>>
  newest(asked: EndRequest, signal: AbortSignal): Promise<Samples>
  oldest(asked: EndRequest, signal: AbortSignal): Promise<Samples>
}

/** Reads the table of measurements by default. */
export function createValuesSource(
  reader: Pick<ColumnsReader, 'read'>,
  connection: Pick<PgConnection, 'read'>,
  table: ValuesTable,
): MeasurementsSource {
  // The text for another table depends on its expression of a value.
  const nameOf = (name: string) => (table === measurementValues ? { name } : {})
  const valuesSql = () => `SELECT cast(ts AS LONG), ${table.value} FROM ${table.name}
    WHERE series = $1 AND ts > $2 AND ts <= $3 AND ${table.isThere} ORDER BY ts`

  async function readEnd(
    end: 'newest' | 'oldest',
    { series, samplesMax = 1, afterUs, throughUs }: EndRequest,
    signal: AbortSignal,
  ): Promise<Samples> {
    const values = [whole(series), timeLimit(afterUs), timeLimit(throughUs)]
    const timesMs: number[] = []
    const found: number[] = []
    const text = `${valuesSql()} ${end === 'newest' ? 'DESC' : 'ASC'} LIMIT ${whole(samplesMax)}`
    await connection.read({ ...nameOf(`${end}-${samplesMax}-values`), text, values }, signal, ([timeUs, value]) => {
      timesMs.push(Number(timeUs) / 1000)
      found.push(Number(value))
    })
    if (end === 'newest') for (const column of [timesMs, found]) column.reverse()
    return { timesMs: Float64Array.from(timesMs), values: Float64Array.from(found) }
  }

  return {
    async samples({ series, afterUs, throughUs, rowsMax }, signal) {
      if (series.length === 0) return new Map()
      // One more than the limit reveals that there are too many.
      const limit = rowsMax + 1
      const sql = customValuesSql({ fromUs: afterUs + 1, toUs: throughUs + 1, series, table }, limit)
      const [timesUs, ...others] = await reader.read({ sql, columnCount: 3, rowsMax: limit }, signal)
      if (timesUs.length > rowsMax) throw new QueryFailed('TOO_LARGE', `more than ${rowsMax} values`)
      const parts = bySeries(timesUs, others)
      return mapValues(parts, ([timesMs, values]) => ({ timesMs, values: values as Float64Array }))
    },
    async hours({ series, fromUs, toUs, expiredBeforeUs }, signal) {
      if (series.length === 0 || fromUs >= toUs) return new Map()
      const rowsMax = series.length * hoursMax({ fromUs, toUs })
      const sql = seriesHoursSql(table, { series, fromUs, toUs, expiredBeforeUs })
      const [timesUs, ...others] = await reader.read({ sql, columnCount: 7, rowsMax }, signal)
      return mapValues(bySeries(timesUs, others), ([startsMs, ...columns]) => {
        const [count, mean, std, min, max] = columns as [
          Float64Array,
          Float64Array,
          Float64Array,
          Float64Array,
          Float64Array,
        ]
        return { startsMs, count, mean, std, min, max }
      })
    },
    async keptHours({ series, fromUs, toUs, expiredBeforeUs }, signal) {
      const untilUs = Math.min(toUs, expiredBeforeUs)
      if (series.length === 0 || fromUs >= untilUs) return new Map()
      const rowsMax = series.length * hoursMax({ fromUs, toUs: untilUs })
      const sql = keptHoursSql({ series, fromUs, toUs: untilUs })
      const columnCount = 2 + seriesHourColumns.length
      const [timesUs, ...others] = await reader.read({ sql, columnCount, rowsMax }, signal)
      return mapValues(bySeries(timesUs, others), ([startsMs, ...columns]) => ({ startsMs, columns: named(columns) }))
    },
    newest: (asked, signal) => readEnd('newest', asked, signal),
    oldest: (asked, signal) => readEnd('oldest', asked, signal),
  }
}

function named(columns: readonly Float64Array[]): KeptHours['columns'] {
  const pairs = seriesHourColumns.map(({ name }, index) => [name, columns[index] as Float64Array] as const)
  return Object.fromEntries(pairs) as Record<SeriesHourColumn, Float64Array>
}

/** The rows of each series, in their order: times in milliseconds, and the columns behind the series number. */
function bySeries(
  timesUs: Float64Array,
  [series, ...columns]: readonly Float64Array[],
): Map<number, [Float64Array, ...Float64Array[]]> {
  const numbers = series ?? new Float64Array(0)
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  const parts = mapValues(counts, count => ({
    length: 0,
    columns: [timesUs, ...columns].map(() => new Float64Array(count)) as [Float64Array, ...Float64Array[]],
  }))
  for (let row = 0; row < numbers.length; row++) {
    const part = parts.get(numbers[row] as number)
    if (part === undefined) throw bug(`row ${row} without a series`)
    const [timesMs, ...values] = part.columns
    const timeMs = (timesUs[row] as number) / 1000
    if (part.length > 0 && !(timeMs > (timesMs[part.length - 1] as number))) {
      throw bug(`values out of order: ${timeMs} after ${timesMs[part.length - 1]}`)
    }
    timesMs[part.length] = timeMs
    for (let column = 0; column < values.length; column++) {
      ;(values[column] as Float64Array)[part.length] = (columns[column] as Float64Array)[row] as number
    }
    part.length++
  }
  return mapValues(parts, part => part.columns)
}

function mapValues<Value, Result>(
  map: ReadonlyMap<number, Value>,
  change: (value: Value) => Result,
): Map<number, Result> {
  return new Map(Array.from(map, ([key, value]) => [key, change(value)]))
}

interface SeriesRange {
  readonly series: readonly number[]
  readonly fromUs: number
  /** The end is not part of the range. */
  readonly toUs: number
}

interface SeriesHoursRequest extends SeriesRange, Pick<HourSources, 'expiredBeforeUs'> {}

const figures = ['count', 'mean', 'std', 'min', 'max'] as const

/** Rows with an hour's start in microseconds, the series and its aggregates, all as doubles, by time. */
function seriesHoursSql(table: ValuesTable, { series, fromUs, toUs, expiredBeforeUs }: SeriesHoursRequest): string {
  const untilUs = Math.min(toUs, expiredBeforeUs)
  const parts: string[] = []
  if (fromUs < untilUs) parts.push(partSql(expiredSeriesHoursTable, keptWhereSql({ series, fromUs, toUs: untilUs })))
  const range = { series, fromUs: Math.max(fromUs, expiredBeforeUs), toUs }
  if (range.fromUs < toUs) parts.push(partSql(`(${valuesHoursSql(table, range)})`, ''))
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) ORDER BY ts`
}

function partSql(source: string, where: string): string {
  return `SELECT ${asDoubles(['ts', 'series', ...figures])} FROM ${source} ${where}`
}

function valuesHoursSql(table: ValuesTable, range: SeriesRange): string {
  const columns = seriesHourColumns.filter(({ name }) => figures.some(figure => figure === name))
  const aggregates = columns.map(({ name, sql }) => `${sql} ${name}`).join(', ')
  return `SELECT ts, series, ${aggregates} FROM ${valuesFromSql(table, range)} SAMPLE BY 1h ALIGN TO CALENDAR`
}

/** The same with all kept columns, in their order. */
function keptHoursSql(range: SeriesRange): string {
  const columns = asDoubles(['ts', 'series', ...seriesHourColumns.map(({ name }) => name)])
  return `SELECT * FROM (SELECT ${columns} FROM ${expiredSeriesHoursTable} ${keptWhereSql(range)}) ORDER BY ts`
}

/** Hours whose values were erased have no count. */
function keptWhereSql({ series, fromUs, toUs }: SeriesRange): string {
  const time = `ts >= ${timeLimit(fromUs)} AND ts < ${timeLimit(toUs)}`
  return `WHERE ${time} AND series IN (${series.map(whole).join(', ')}) AND count IS NOT NULL`
}

function asDoubles(names: readonly string[]): string {
  return names.map(name => `cast(${name} AS DOUBLE) ${name}`).join(', ')
}

interface CustomRange extends ValuesRange {
  /** The table of measurements by default. */
  readonly table?: ValuesTable
}

/** Called with each value; values of one time come in any order. */
type TakeCustom = (timeUs: number, series: number, value: number) => void

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
function customValuesSql({ table = measurementValues, ...range }: CustomRange, limit: number): string {
  const columns = 'cast(ts AS DOUBLE) time, cast(series AS DOUBLE) series, value'
  return `SELECT ${columns} FROM ${valuesFromSql(table, range)} LIMIT ${whole(limit)}`
}
