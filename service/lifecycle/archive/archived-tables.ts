/**
 * Declares the tables whose days are archived: their columns in a file, the statements that read a day, and its sums.
 */

import {
  expiredHoursTable,
  expiredSeriesHoursTable,
  measurementsTable,
  metrics,
  readingsTable,
  restoredMeasurementsTable,
  restoredReadingsTable,
  seriesNamesTable,
} from '../../../store/tables.ts'
import { type HoursRange, whereSql } from '../retention/expiring-tables.ts'
import { dayMs } from '../retention/horizon.ts'

export const archivedNames = [readingsTable, measurementsTable] as const
export type ArchivedName = (typeof archivedNames)[number]

export interface ArchivedColumn {
  readonly name: string
  readonly type: 'TIMESTAMP' | 'SYMBOL' | 'INT' | 'DOUBLE'
  /** Copied from another table into the file: not part of the sums, and not restored. */
  readonly isJoined?: boolean
}

export interface ArchivedTable {
  readonly name: ArchivedName
  /** Key of a row, together with `ts`. */
  readonly keyColumn: 'device' | 'series'
  readonly columns: readonly ArchivedColumn[]
  /** Rows with values of a range, ordered by time. Rows without a value belong to erased series. */
  rowsSql(range: HoursRange): string
  /** Has a row for each hour in which a key had rows, including erased keys. */
  readonly hoursTable: string
  readonly restoredTable: string
}

/** A number for each row, and for each term of `sumTermsOf`; empty for a column without values. */
export type Sums = readonly string[]

const ts = { name: 'ts', type: 'TIMESTAMP' } as const
const hasValues = `(${metrics.map(metric => `${metric} IS NOT NULL`).join(' OR ')})`

export const archivedTables: Readonly<Record<ArchivedName, ArchivedTable>> = {
  [readingsTable]: {
    name: readingsTable,
    keyColumn: 'device',
    columns: [ts, { name: 'device', type: 'SYMBOL' }, ...metrics.map(name => ({ name, type: 'DOUBLE' }) as const)],
    rowsSql: range =>
      `SELECT ts, device, ${metrics.join(', ')} FROM ${readingsTable} ${whereSql(range)} AND ${hasValues}`,
    hoursTable: expiredHoursTable,
    restoredTable: restoredReadingsTable,
  },
  [measurementsTable]: {
    name: measurementsTable,
    keyColumn: 'series',
    columns: [
      ts,
      { name: 'series', type: 'INT' },
      { name: 'device', type: 'SYMBOL', isJoined: true },
      { name: 'metric', type: 'SYMBOL', isJoined: true },
      { name: 'value', type: 'DOUBLE' },
    ],
    // QuestDB has a copy of the names, so one statement exports the whole file.
    rowsSql: range => `SELECT m.ts, m.series, s.device, s.metric, m.value
      FROM (SELECT ts, series, value FROM ${measurementsTable} ${whereSql(range)} AND value IS NOT NULL) m
      LEFT JOIN ${seriesNamesTable} s ON m.series = s.series`,
    hoursTable: expiredSeriesHoursTable,
    restoredTable: restoredMeasurementsTable,
  },
}

/** Larger values are counted but not summed: their sum would overflow. */
export const summedBelow = 1e9
export const sumScale = 10_000
export const dayUs = dayMs * 1000

/** Selects the sums as text: JSON numbers are not exact beyond 2^53. */
export function sumsSql({ columns }: ArchivedTable, rowsSql: string): string {
  const terms = columns.filter(({ isJoined }) => isJoined !== true).flatMap(sumTermsOf)
  return `SELECT ${['count()', ...terms].map(term => `cast(${term} AS VARCHAR)`).join(', ')} FROM (${rowsSql})`
}

/** Integer sums do not depend on the order of rows. `FileSums` computes the same from a file. */
function sumTermsOf({ name, type }: ArchivedColumn): string[] {
  if (type === 'TIMESTAMP') return [`sum(cast(${name} AS LONG) % ${dayUs})`]
  if (type === 'SYMBOL') return [`sum(length(${name}))`]
  if (type === 'INT') return [`sum(cast(${name} AS LONG))`]
  const scaled = `CASE WHEN abs(${name}) < ${summedBelow} THEN cast(${name} * ${sumScale} AS LONG) END`
  return [`count(${name})`, `sum(${scaled})`]
}

/** Adds the sums of several files, column by column. */
export function addSums(all: readonly Sums[]): Sums {
  const [first, ...others] = all
  return others.reduce<Sums>((sum, one) => sum.map((text, at) => addTexts(text, one[at] ?? '')), first ?? [])
}

function addTexts(one: string, other: string): string {
  if (one === '' || other === '') return one + other
  return String(BigInt.asIntN(64, BigInt(one) + BigInt(other)))
}
