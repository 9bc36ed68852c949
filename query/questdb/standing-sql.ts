/**
 * The SQL behind the readings of one gauge in a short range: a row for each second with readings, so that their number is bounded
 * however often a device sends. It has the first one's time in microseconds, and the extremes.
 */

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
  return secondsSql(metric, `${readingsTable} WHERE ${where}`)
}

export function valuesOfSeriesSql(series: number, { fromUs, toUs }: Range): string {
  return secondsSql('value', valuesFromSql(measurementValues, { fromUs, toUs, series: [series] }))
}

function secondsSql(value: string, rows: string): string {
  const figures = `cast(min(ts) AS LONG), min(${value}), max(${value})`
  return `SELECT ${figures}, cast(ts AS LONG) / 1000000 second FROM ${rows} GROUP BY second`
}
