/** What totals have grown by, by buckets of time: by the rule of `analytics/counter/`, on whichever shards the values are. */

import { increaseAt } from '../../analytics/counter/counter-increase.ts'
import { type Place, placesWithin } from '../../placement/placement.ts'
import { confirmedIncreaseSql, ownIncreaseSql, valuesBeforeSql } from '../../store/counter-sql.ts'
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

/** How far before a bucket the values may be since which a total has grown. */
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
    const sql = increasesSql({ ...asked, places }, place, counters)
    parts.push(await open(place.shard).reader.read({ sql, columnCount: 3, rowsMax }, signal))
  }
  if (places.length > 1) parts.push(await readBetween(open, asked, places, counters, signal))
  return joinedFigures(parts, ['key', 'key', 'sum'])
}

/**
 * What a total has grown by since the values before counts for the bucket of the later one. Of several places, the first two
 * values of each are left to `readBetween`.
 */
function increasesSql(
  { fromUs, stepUs, table, places }: IncreasesAsked,
  place: Place,
  counters: readonly number[],
): string {
  const grown = `${ownIncreaseSql} + ${confirmedIncreaseSql}`
  const isWithin = places.length === 1 ? 'before IS NOT NULL' : 'earlier IS NOT NULL'
  const buckets = `SELECT ${bucketSql(stepUs)}, series, sum(${grown}) increase FROM (${pairsSql(table, place, counters)}) WHERE ${isWithin} AND ts >= ${whole(fromUs)} GROUP BY bucket, series`
  return `SELECT ${keySql}, increase FROM (${buckets}) ORDER BY bucket`
}

function pairsSql(table: ValuesTable, { fromUs, toUs }: Place, counters: readonly number[]): string {
  const values = valuesFromSql(table, { fromUs, toUs, series: counters })
  return `SELECT ts, series, value, ${valuesBeforeSql} FROM ${values}`
}

/** The same of the first two values of each place, by the last two before them. */
async function readBetween(
  open: OpenReader,
  { fromUs, stepUs, table }: IncreasesAsked,
  places: readonly Place[],
  counters: readonly number[],
  signal: AbortSignal,
): Promise<readonly [Float64Array, ...Float64Array[]]> {
  const lastValues = new Map<number, readonly number[]>()
  const rows: (readonly [bucketUs: number, series: number, increase: number])[] = []
  for (const place of places) {
    const asked = { sql: endsSql(table, place, counters), columnCount: 7, rowsMax: counters.length }
    const columns = await open(place.shard).reader.read(asked, signal)
    for (const row of columns[0].keys()) {
      const ends = columns.map(column => column[row]) as unknown as Ends
      const [number, , , , , closingBefore, closing] = ends
      const before = lastValues.get(number) ?? []
      for (const { timeUs, increase } of openingIncreases(before, ends)) {
        if (timeUs >= fromUs) rows.push([Math.floor(timeUs / stepUs) * stepUs, number, increase])
      }
      lastValues.set(number, [...before, closingBefore, closing].filter(isThere).slice(-2))
    }
  }
  const columnOf = (column: 0 | 1 | 2) => Float64Array.from(rows, row => row[column])
  return [columnOf(0), columnOf(1), columnOf(2)]
}

type Ends = readonly [
  series: number,
  openingUs: number,
  opening: number,
  secondUs: number,
  second: number,
  closingBefore: number,
  closing: number,
]

/** Of the first two values of a place, where there are values before. */
function openingIncreases(before: readonly number[], [, openingUs, opening, secondUs, second]: Ends) {
  const all = [...before, opening, second].filter(isThere)
  return [openingUs, secondUs].flatMap((timeUs, place) => {
    const end = before.length + place + 1
    return end > all.length || end < 2 ? [] : [{ timeUs, increase: increaseAt(all.slice(Math.max(0, end - 3), end)) }]
  })
}

const isThere = (value: number) => !Number.isNaN(value)

/** Of each series its first two values with their times, and its last two; the second and the last but one may be missing. */
function endsSql(table: ValuesTable, place: Place, counters: readonly number[]): string {
  const ofSecond = (value: string) => `max(CASE WHEN before IS NOT NULL AND earlier IS NULL THEN ${value} END)`
  const ends = `SELECT series, min(ts) first_ts, first(value) opening, ${ofSecond('cast(ts AS LONG)')} second_ts, ${ofSecond('value')} second, last(before) closing_before, last(value) closing FROM (${pairsSql(table, place, counters)}) GROUP BY series`
  return `SELECT cast(series AS DOUBLE) series, cast(first_ts AS DOUBLE) first_us, opening, cast(second_ts AS DOUBLE) second_us, second, closing_before, closing FROM (${ends}) ORDER BY first_us`
}
