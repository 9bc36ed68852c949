/** What totals have grown by, by buckets of time: by the rule of `analytics/counter/`. */

import { confirmedIncreaseSql, ownIncreaseSql, valuesBeforeSql } from '../../store/counter-sql.ts'
import { whole } from '../questdb/sql-literals.ts'
import { type ValuesTable, valuesFromSql } from '../questdb/values-table.ts'

interface IncreasesAsked {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
  readonly stepUs: number
  readonly table: ValuesTable
}

/** How far before a bucket the values may be since which a total has grown. */
const lookbackUs = 86_400_000_000

/** The bucket and the series of a row of figures. */
export const keySql = 'cast(bucket AS DOUBLE) bucket, cast(series AS DOUBLE) series'

export function bucketSql(stepUs: number): string {
  return `cast(ts AS LONG) / ${whole(stepUs)} * ${whole(stepUs)} bucket`
}

/**
 * Columns of the bucket, the series and the increase. What a total has grown by since the values before counts for the bucket of
 * the later one.
 */
export function increasesSql({ fromUs, toUs, stepUs, table }: IncreasesAsked, counters: readonly number[]): string {
  const values = valuesFromSql(table, { fromUs: Math.max(0, fromUs - lookbackUs), toUs, series: counters })
  const pairs = `SELECT ts, series, value, ${valuesBeforeSql} FROM ${values}`
  const grown = `${ownIncreaseSql} + ${confirmedIncreaseSql}`
  const buckets = `SELECT ${bucketSql(stepUs)}, series, sum(${grown}) increase FROM (${pairs}) WHERE before IS NOT NULL AND ts >= ${whole(fromUs)} GROUP BY bucket, series`
  return `SELECT ${keySql}, increase FROM (${buckets}) ORDER BY bucket`
}
