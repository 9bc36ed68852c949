/** The SQL behind means of gauges of the whole fleet that have no column, made of their hours: those that were kept, and those of the values. */

import { expiredSeriesHoursTable } from '../../store/tables.ts'
import type { HourSources } from './hourly-sql.ts'
import { whole } from './sql-literals.ts'
import { measurementValues, valuesFromSql } from './values-table.ts'

interface Stretch {
  readonly fromUs: number
  /** Not included; both are whole hours. */
  readonly toUs: number
}

/**
 * Rows of a series, the sum and the number of its hourly means, and its extremes; as many statements as tables have hours of the
 * stretch, one or two.
 */
export function fleetSeriesSql(
  { fromUs, toUs }: Stretch,
  { expiredBeforeUs }: Pick<HourSources, 'expiredBeforeUs'>,
  series: readonly number[],
): string[] {
  if (series.length === 0) return []
  const rawFromUs = Math.min(toUs, Math.max(fromUs, expiredBeforeUs))
  const figures = 'series, sum(mean), count(mean), min(min), max(max)'
  const statements: string[] = []
  if (fromUs < rawFromUs) {
    const where = `ts >= ${whole(fromUs)} AND ts < ${whole(rawFromUs)} AND series IN (${series.map(whole).join(', ')})`
    statements.push(`SELECT ${figures} FROM ${expiredSeriesHoursTable} WHERE ${where} AND count IS NOT NULL`)
  }
  if (rawFromUs < toUs) {
    const values = valuesFromSql(measurementValues, { fromUs: rawFromUs, toUs, series })
    const hours = `SELECT ts, series, avg(value) mean, min(value) min, max(value) max FROM ${values} SAMPLE BY 1h ALIGN TO CALENDAR`
    statements.push(`SELECT ${figures} FROM (${hours})`)
  }
  return statements
}
