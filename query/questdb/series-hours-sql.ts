/** The SQL behind the hours of values without a column: which of them were kept, and which come from the values. */

import { expiredSeriesHoursTable, seriesHourColumns } from '../../store/tables.ts'
import type { HourSources } from './hourly-sql.ts'
import { whole } from './sql-literals.ts'
import { type ValuesTable, valuesFromSql } from './values-table.ts'

interface SeriesRange {
  readonly series: readonly number[]
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
}

export interface SeriesHoursRequest extends SeriesRange, Pick<HourSources, 'expiredBeforeUs'> {}

const figures = ['count', 'mean', 'std', 'min', 'max'] as const

/** Rows of an hour's start in microseconds, the series and its aggregates, all as doubles, by time. */
export function seriesHoursSql(
  table: ValuesTable,
  { series, fromUs, toUs, expiredBeforeUs }: SeriesHoursRequest,
): string {
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

/** The same with all columns that are kept, in their order. */
export function keptHoursSql(range: SeriesRange): string {
  const columns = asDoubles(['ts', 'series', ...seriesHourColumns.map(({ name }) => name)])
  return `SELECT * FROM (SELECT ${columns} FROM ${expiredSeriesHoursTable} ${keptWhereSql(range)}) ORDER BY ts`
}

/** Hours whose values were erased have no count. */
function keptWhereSql({ series, fromUs, toUs }: SeriesRange): string {
  const time = `ts >= ${whole(fromUs)} AND ts < ${whole(toUs)}`
  return `WHERE ${time} AND series IN (${series.map(whole).join(', ')}) AND count IS NOT NULL`
}

function asDoubles(names: readonly string[]): string {
  return names.map(name => `cast(${name} AS DOUBLE) ${name}`).join(', ')
}
