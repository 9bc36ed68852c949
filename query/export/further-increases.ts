/** What totals have grown by, by buckets of time: by what each value is above the one before it, on whichever shard that is. */

import { type Place, placesWithin } from '../../placement/placement.ts'
import { whole } from '../questdb/sql-literals.ts'
import { type ValuesTable, valuesFromSql } from '../questdb/values-table.ts'
import { bucketSql, joinedFigures, keySql, type OpenReader } from './placed-buckets.ts'

interface IncreasesAsked {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
  readonly stepUs: number
  readonly table: ValuesTable
  readonly places: readonly Place[]
}

/** How far before a bucket the value may be since which a total has grown. */
const lookbackUs = 86_400_000_000

/** Columns of the bucket, the series and the increase. */
export async function readIncreases(
  open: OpenReader,
  asked: IncreasesAsked,
  counters: readonly number[],
  rowsMax: number,
  signal: AbortSignal,
): Promise<readonly [Float64Array, ...Float64Array[]]> {
  const places = placesWithin(asked.places, Math.max(0, asked.fromUs - lookbackUs), asked.toUs)
  const parts: (readonly [Float64Array, ...Float64Array[]])[] = []
  for (const place of places) {
    const sql = increasesSql(asked, place, counters)
    parts.push(await open(place.shard).reader.read({ sql, columnCount: 3, rowsMax }, signal))
  }
  if (places.length > 1) parts.push(await readBetween(open, asked, places, counters, signal))
  return joinedFigures(parts, ['key', 'key', 'sum'])
}

/**
 * What a total has grown by since the value before counts for the bucket of the later one; one that is lower than that
 * value has started again from 0.
 */
function increasesSql({ fromUs, stepUs, table }: IncreasesAsked, place: Place, counters: readonly number[]): string {
  const values = valuesFromSql(table, { fromUs: place.fromUs, toUs: place.toUs, series: counters })
  const pairs = `SELECT ts, series, value, lag(value) OVER (PARTITION BY series ORDER BY ts) before FROM ${values}`
  const increase = 'sum(CASE WHEN value >= before THEN value - before ELSE value END) increase'
  const buckets = `SELECT ${bucketSql(stepUs)}, series, ${increase} FROM (${pairs}) WHERE before IS NOT NULL AND ts >= ${whole(fromUs)} GROUP BY bucket, series`
  return `SELECT ${keySql}, increase FROM (${buckets}) ORDER BY bucket`
}

/** The same from the last value of a place to the first one of a later place. */
async function readBetween(
  open: OpenReader,
  { fromUs, stepUs, table }: IncreasesAsked,
  places: readonly Place[],
  counters: readonly number[],
  signal: AbortSignal,
): Promise<readonly [Float64Array, ...Float64Array[]]> {
  const lastValues = new Map<number, number>()
  const rows: (readonly [bucketUs: number, series: number, increase: number])[] = []
  for (const place of places) {
    const sql = endsSql(table, place, counters)
    const asked = { sql, columnCount: 4, rowsMax: counters.length }
    const [firstUs, series, first, last] = await open(place.shard).reader.read(asked, signal)
    for (const [row, timeUs] of firstUs.entries()) {
      const number = series?.[row] as number
      const value = first?.[row] as number
      const before = lastValues.get(number)
      const bucketUs = Math.floor(timeUs / stepUs) * stepUs
      if (before !== undefined && timeUs >= fromUs)
        rows.push([bucketUs, number, value >= before ? value - before : value])
      lastValues.set(number, last?.[row] as number)
    }
  }
  const columnOf = (column: 0 | 1 | 2) => Float64Array.from(rows, row => row[column])
  return [columnOf(0), columnOf(1), columnOf(2)]
}

/** The time of the first value of each series, the series, and its first and its last value. */
function endsSql(table: ValuesTable, { fromUs, toUs }: Place, counters: readonly number[]): string {
  const values = valuesFromSql(table, { fromUs, toUs, series: counters })
  const ends = `SELECT series, min(ts) time, first(value) opening, last(value) closing FROM ${values} GROUP BY series`
  return `SELECT cast(time AS DOUBLE) time, cast(series AS DOUBLE) series, opening, closing FROM (${ends}) ORDER BY time`
}
