/** A device's readings for an analysis, fetched in a worker as columns of numbers: every reading, or by the hour. */

import { bug } from '../../store/limits/bug.ts'
import type { PgConnection, Statement } from '../../store/questdb/client/questdb-pg.ts'
import {
  expiredHoursTable,
  hourlyAggregates,
  hourlyColumns,
  type Metric,
  metrics,
  readingsTable,
} from '../../store/tables.ts'
import { failureCode, QueryFailed } from '../query-failed.ts'
import type { HourlyColumns, HourlySeries, Series } from '../series.ts'
import { type HoursRequest, hourlySql, hoursMax } from './hourly-sql.ts'
import type { ColumnsReader, ColumnsRequest } from './questdb-export.ts'
import { quoted, timeLimit, whole } from './values-table.ts'

interface SeriesRequest {
  readonly symbol: string
  /** The start is not part of the range. */
  readonly afterUs: number
  /** The end is part of the range. */
  readonly throughUs: number
  /** More readings than this are TOO_LARGE. */
  readonly rowsMax: number
}

/** Rejects with a QueryFailed or a QuestdbError for external failures. */
export interface ReadingsSource {
  series(asked: SeriesRequest, signal: AbortSignal): Promise<Series>
  hourly(asked: HoursRequest, signal: AbortSignal): Promise<HourlySeries>
  /** The time of the newest reading at or before the moment; undefined when there is none. */
  newestUs(symbol: string, throughUs: number, signal: AbortSignal): Promise<number | undefined>
  /** The start of the newest kept hour of expired readings before the moment; undefined when there is none. */
  newestExpiredHourUs(symbol: string, beforeUs: number, signal: AbortSignal): Promise<number | undefined>
  /** The times of the newest readings in (afterUs, throughUs], at most `countMax`; milliseconds, ascending. */
  newestTimes(asked: TimesAsked, signal: AbortSignal): Promise<Float64Array>
}

interface TimesAsked {
  readonly symbol: string
  readonly afterUs: number
  readonly throughUs: number
  readonly countMax: number
}

export function createReadingsSource(
  reader: Pick<ColumnsReader, 'read'>,
  connection: Pick<PgConnection, 'read'>,
): ReadingsSource {
  /** The first column is selected in microseconds and returned in milliseconds. */
  async function read(asked: ColumnsRequest, signal: AbortSignal): Promise<[Float64Array, ...Float64Array[]]> {
    const [times, ...others] = await reader.read(asked, signal)
    return [asMilliseconds(times), ...others]
  }

  async function readHours(asked: HoursRequest, signal: AbortSignal): Promise<HourlySeries> {
    const range = {
      ...asked,
      symbol: quoted(asked.symbol),
      fromUs: timeLimit(asked.fromUs),
      toUs: timeLimit(asked.toUs),
    }
    const columnCount = 1 + hourlyColumns.length
    const [startsMs, ...columns] = await read({ sql: hourlySql(range), columnCount, rowsMax: hoursMax(range) }, signal)
    const aggregatesOf = (metric: Metric): HourlyColumns =>
      byName(hourlyAggregates, aggregate => {
        const index = hourlyColumns.findIndex(column => column.metric === metric && column.aggregate === aggregate)
        return columns[index] as Float64Array
      })
    return { startsMs, metrics: byName(metrics, aggregatesOf) }
  }

  async function firstTimeUs(statement: Statement, signal: AbortSignal): Promise<number | undefined> {
    let firstUs: number | undefined
    await connection.read(statement, signal, ([timeUs]) => {
      firstUs ??= Number(timeUs)
    })
    return firstUs
  }

  return {
    async series({ symbol, afterUs, throughUs, rowsMax }, signal) {
      const where = `device = ${quoted(symbol)} AND ts > ${timeLimit(afterUs)} AND ts <= ${timeLimit(throughUs)}`
      const columns = `cast(ts AS DOUBLE) time, ${metrics.join(', ')}`
      // One more than the limit reveals that there are too many.
      const limit = whole(rowsMax) + 1
      const sql = `SELECT ${columns} FROM ${readingsTable} WHERE ${where} LIMIT ${limit}`
      const [timesMs, ...values] = await read({ sql, columnCount: 1 + metrics.length, rowsMax: limit }, signal)
      if (timesMs.length > rowsMax) throw new QueryFailed('TOO_LARGE', `more than ${rowsMax} readings`)
      return { timesMs, values: byName(metrics, metric => values[metrics.indexOf(metric)] as Float64Array) }
    },
    async hourly(asked, signal) {
      try {
        return await readHours(asked, signal)
      } catch (error) {
        // The view may be in the middle of a rebuild.
        if (failureCode(error) !== 'DATABASE_AWAY') throw error
        return await readHours({ ...asked, rawFromUs: Number.NEGATIVE_INFINITY }, signal)
      }
    },
    newestUs: (symbol, throughUs, signal) =>
      firstTimeUs({ name: 'newest', text: newestSql, values: [symbol, timeLimit(throughUs)] }, signal),
    newestExpiredHourUs: (symbol, beforeUs, signal) =>
      firstTimeUs({ text: newestExpiredSql, values: [symbol, timeLimit(beforeUs)] }, signal),
    async newestTimes({ symbol, afterUs, throughUs, countMax }, signal) {
      const values = [symbol, timeLimit(afterUs), timeLimit(throughUs), whole(countMax)]
      const timesMs: number[] = []
      await connection.read({ name: 'newest-times', text: newestTimesSql, values }, signal, ([timeUs]) => {
        timesMs.push(Number(timeUs) / 1000)
      })
      return Float64Array.from(timesMs).reverse()
    },
  }
}

/** For a device that has been silent for long, each million newer rows of other devices costs some 0.2 ms. */
const newestSql = `SELECT cast(ts AS LONG) FROM ${readingsTable} WHERE device = $1 AND ts <= $2 ORDER BY ts DESC LIMIT 1`

const newestExpiredSql = `SELECT cast(ts AS LONG) FROM ${expiredHoursTable} WHERE device = $1 AND ts < $2 ORDER BY ts DESC LIMIT 1`

const newestTimesSql = `SELECT cast(ts AS LONG) FROM ${readingsTable}
  WHERE device = $1 AND ts > $2 AND ts <= $3 ORDER BY ts DESC LIMIT $4`

function asMilliseconds(times: Float64Array): Float64Array {
  let previousUs = Number.NEGATIVE_INFINITY
  for (let row = 0; row < times.length; row++) {
    const timeUs = times[row] as number
    if (!(timeUs > previousUs)) throw bug(`rows out of order: ${timeUs} after ${previousUs}`)
    previousUs = timeUs
    times[row] = timeUs / 1000
  }
  return times
}

function byName<Name extends string, T>(names: readonly Name[], of: (name: Name) => T): Record<Name, T> {
  return Object.fromEntries(names.map(name => [name, of(name)])) as Record<Name, T>
}
