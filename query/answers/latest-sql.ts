/** The SQL of `latest/all`: the number of points, and the points, raw or as means over buckets. */

import type { Statement } from '../../store/questdb/client/questdb-pg.ts'
import { readingsTable } from '../../store/tables.ts'

/** Possible lengths of a bucket, finest first. */
export const bucketMinutes = [1, 5, 15, 60, 360, 1440] as const
export type BucketMinutes = (typeof bucketMinutes)[number]

export interface LatestRange {
  /** Only these devices; undefined for all. */
  readonly symbols: readonly string[] | undefined
  readonly startUs: number
  readonly endUs: number
}

/**
 * Rows `device, rows, temperatures, humidities`: the number of points of each device; with `bucket`, the number of
 * bucket means.
 */
export function countStatement(range: LatestRange, bucket: BucketMinutes | undefined): Statement {
  const counts = 'SELECT device, count(), count(temperature), count(humidity)'
  const source = bucket === undefined ? readingsTable : `(${meansSql} ${whereSql(range, 2)} ${sampleSql(bucket)})`
  const where = bucket === undefined ? whereSql(range, 2) : ''
  return statement(range, `latest-count-${bucket ?? 'raw'}`, `${counts} FROM ${source} ${where}`, [])
}

/** Rows `device, time in µs, temperature, humidity` in the order of time. QuestDB samples in UTC, so hours are true hours. */
export function pointsStatement(range: LatestRange, bucket: BucketMinutes | undefined, rowsMax: number): Statement {
  const columns = 'SELECT device, cast(ts AS LONG), temperature, humidity'
  const where = `${whereSql(range, 3)} AND (temperature IS NOT NULL OR humidity IS NOT NULL)`
  // The LIMIT is outside: inside, QuestDB would apply it before it has sorted the means.
  const text =
    bucket === undefined
      ? `${columns} FROM ${readingsTable} ${where} ORDER BY ts LIMIT $3`
      : `${columns} FROM (${meansSql} ${where} ${sampleSql(bucket)}) LIMIT $3`
  return statement(range, `latest-points-${bucket ?? 'raw'}`, text, [rowsMax])
}

const meansSql = `SELECT ts, device, avg(temperature) AS temperature, avg(humidity) AS humidity FROM ${readingsTable}`

function sampleSql(bucket: BucketMinutes): string {
  return `SAMPLE BY ${bucket}m ALIGN TO CALENDAR`
}

/** `$1` and `$2` are the range. The symbols follow after `$fixedBinds`. */
function whereSql(range: LatestRange, fixedBinds: number): string {
  const time = 'WHERE ts >= $1 AND ts < $2'
  if (range.symbols === undefined) return time
  return `${time} AND device IN (${range.symbols.map((_, index) => `$${fixedBinds + 1 + index}`).join(', ')})`
}

/** Only the query about all devices has the same text every time, and is worth preparing. */
function statement(range: LatestRange, name: string, text: string, more: readonly number[]): Statement {
  const values = [range.startUs, range.endUs, ...more, ...(range.symbols ?? [])]
  return range.symbols === undefined ? { name, text, values } : { text, values }
}
