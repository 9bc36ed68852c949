/**
 * The SQL for a device's hours, from three sources: hours kept of expired readings, the materialized view, and raw
 * readings.
 */

import { expiredHoursTable, hourlyColumns, hourlyView, readingsTable } from '../../store/tables.ts'

/** Sources of hours, by time in epoch microseconds. */
export interface HourSources {
  /** Hours from this moment on come from raw readings; -Infinity for all of them. */
  readonly rawFromUs: number
  /**
   * The start of a day: earlier readings have expired, and only their hours are kept; -Infinity when none have expired.
   */
  readonly expiredBeforeUs: number
}

export const allFromReadings: HourSources = {
  rawFromUs: Number.NEGATIVE_INFINITY,
  expiredBeforeUs: Number.NEGATIVE_INFINITY,
}

export interface HoursRequest extends HourSources {
  readonly symbol: string
  readonly fromUs: number
  /**
   * The end is not part of the range. Hours cut by the range aggregate only its readings; expired hours that begin in
   * the range are whole.
   */
  readonly toUs: number
}

const hourUs = 3_600_000_000

/**
 * Rows with an hour's start in microseconds and its aggregates, all as doubles, ascending. The sources meet at whole
 * hours, so that no hour has to be merged. `symbol` is in quotes.
 */
export function hourlySql({ symbol, fromUs, toUs, rawFromUs, expiredBeforeUs }: HoursRequest): string {
  if (fromUs >= expiredBeforeUs) return keptSql({ symbol, fromUs, toUs, rawFromUs })
  const expired = hoursSql(expiredHoursTable, symbol, fromUs, Math.min(toUs, expiredBeforeUs))
  if (toUs <= expiredBeforeUs) return expired
  return `${expired} UNION ALL ${keptSql({ symbol, fromUs: expiredBeforeUs, toUs, rawFromUs })}`
}

function keptSql({ symbol, fromUs, toUs, rawFromUs }: Omit<HoursRequest, 'expiredBeforeUs'>): string {
  const viewFromUs = Math.ceil(fromUs / hourUs) * hourUs
  const viewToUs = Math.floor(Math.min(rawFromUs, toUs) / hourUs) * hourUs
  if (viewFromUs >= viewToUs) return rawSql(symbol, fromUs, toUs)
  const parts = [hoursSql(hourlyView, symbol, viewFromUs, viewToUs)]
  if (fromUs < viewFromUs) parts.unshift(rawSql(symbol, fromUs, viewFromUs))
  if (viewToUs < toUs) parts.push(rawSql(symbol, viewToUs, toUs))
  return parts.join(' UNION ALL ')
}

/** The most hours of a range. */
export function hoursMax({ fromUs, toUs }: Pick<HoursRequest, 'fromUs' | 'toUs'>): number {
  return Math.max(0, Math.ceil(toUs / hourUs) - Math.floor(fromUs / hourUs))
}

const columnsSql = ['ts', ...hourlyColumns.map(({ name }) => name)]
  .map(name => `cast(${name} AS DOUBLE) ${name}`)
  .join(', ')
const aggregatesSql = hourlyColumns.map(({ sql }) => sql).join(', ')

function rawSql(symbol: string, fromUs: number, toUs: number): string {
  const hours = `SELECT ts, ${aggregatesSql} FROM ${readingsTable} ${whereSql(symbol, fromUs, toUs)} SAMPLE BY 1h`
  return `SELECT ${columnsSql} FROM (${hours} ALIGN TO CALENDAR)`
}

function hoursSql(table: string, symbol: string, fromUs: number, toUs: number): string {
  return `SELECT ${columnsSql} FROM ${table} ${whereSql(symbol, fromUs, toUs)}`
}

function whereSql(symbol: string, fromUs: number, toUs: number): string {
  return `WHERE device = ${symbol} AND ts >= ${fromUs} AND ts < ${toUs}`
}
