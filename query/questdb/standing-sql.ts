/** The SQL behind the readings of one gauge in a short range: rows of their time in microseconds and their value. */

import { type Metric, readingsTable } from '../../store/tables.ts'
import { quoted, whole } from './sql-literals.ts'
import { measurementValues, valuesFromSql } from './values-table.ts'

interface Range {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
}

export function readingsOfDeviceSql(symbol: string, metric: Metric, { fromUs, toUs }: Range): string {
  const where = `device = ${quoted(symbol)} AND ts >= ${whole(fromUs)} AND ts < ${whole(toUs)} AND ${metric} IS NOT NULL`
  return `SELECT cast(ts AS LONG), ${metric} FROM ${readingsTable} WHERE ${where}`
}

export function valuesOfSeriesSql(series: number, { fromUs, toUs }: Range): string {
  return `SELECT cast(ts AS LONG), value FROM ${valuesFromSql(measurementValues, { fromUs, toUs, series: [series] })}`
}
