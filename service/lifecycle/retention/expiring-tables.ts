/** Declares the tables whose days expire: which hours are kept, where, and how they are compared with the rows. */

import { valuesBeforeSql } from '../../../store/counter-sql.ts'
import {
  expiredDaysTable,
  expiredHoursTable,
  expiredSeriesDaysTable,
  expiredSeriesHoursTable,
  hourlyColumns,
  measurementsTable,
  metrics,
  readingsTable,
  seriesHourColumns,
} from '../../../store/tables.ts'

/** Epoch milliseconds; `toMs` is exclusive. */
export interface HoursRange {
  readonly fromMs: number
  readonly toMs: number
}

export interface ExpiringTable {
  readonly name: string
  readonly hoursTable: string
  /** Days whose hours are complete. */
  readonly daysTable: string
  readonly hourColumns: string
  /** Selects a range of whole hours, without hours that have no value. */
  hoursSql(range: HoursRange): string
  /** Count of hours, and integer sums, which do not depend on the order of addition. */
  readonly sumsSql: string
  /** False for kept hours whose values were erased. */
  readonly isPresentSql: string
}

const counts = metrics.map(metric => `${metric}_count`)
const readingColumns = ['ts', 'device', ...hourlyColumns.map(({ name }) => name)].join(', ')
const scaledSum = (column: string) => `sum(cast(${column} * 10000 AS LONG))`

export const expiringReadings: ExpiringTable = {
  name: readingsTable,
  hoursTable: expiredHoursTable,
  daysTable: expiredDaysTable,
  hourColumns: readingColumns,
  hoursSql(range) {
    const aggregates = hourlyColumns.map(({ sql }) => sql).join(', ')
    const hours = `SELECT ts, device, ${aggregates} FROM ${readingsTable} ${whereSql(range)} SAMPLE BY 1h ALIGN TO CALENDAR`
    return `SELECT ${readingColumns} FROM (${hours}) WHERE ${counts.join(' + ')} > 0`
  },
  sumsSql: [
    'count()',
    ...counts.map(name => `sum(${name})`),
    ...metrics.flatMap(metric => ['min', 'max'].map(aggregate => scaledSum(`${metric}_${aggregate}`))),
  ].join(', '),
  isPresentSql: `${counts[0]} IS NOT NULL`,
}

const seriesColumns = ['ts', 'series', ...seriesHourColumns.map(({ name }) => name)].join(', ')
const dayUs = 86_400_000_000
/** Values of the hour before a range decide whether its first one is noise. */
const lookbackMs = 3_600_000

export const expiringMeasurements: ExpiringTable = {
  name: measurementsTable,
  hoursTable: expiredSeriesHoursTable,
  daysTable: expiredSeriesDaysTable,
  hourColumns: seriesColumns,
  hoursSql({ fromMs, toMs }) {
    const where = whereSql({ fromMs: Math.max(0, fromMs - lookbackMs), toMs })
    const values = `SELECT timestamp_floor('h', ts) hour, ts, series, value FROM ${measurementsTable} ${where} AND value IS NOT NULL`
    const placeSql = 'row_number() OVER (PARTITION BY series, hour ORDER BY ts) place'
    const numbered = `SELECT hour, ts, series, value, ${valuesBeforeSql}, ${placeSql} FROM (${values})`
    const aggregates = seriesHourColumns.map(({ name, sql }) => `${sql} ${name}`).join(', ')
    return `SELECT hour ts, series, ${aggregates} FROM (${numbered}) WHERE ts >= '${timeText(fromMs)}' GROUP BY hour, series`
  },
  sumsSql: [
    'count()',
    'sum(count)',
    ...['min', 'max', 'first', 'last'].map(scaledSum),
    ...['first_ts', 'last_ts'].map(name => `sum(cast(${name} AS LONG) % ${dayUs})`),
  ].join(', '),
  isPresentSql: 'count IS NOT NULL',
}

export function whereSql({ fromMs, toMs }: HoursRange): string {
  return `WHERE ts >= '${timeText(fromMs)}' AND ts < '${timeText(toMs)}'`
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
