/**
 * Erases rows of series in a table of QuestDB, which cannot delete rows: each is rewritten without values, so that
 * queries skip it. The times remain under a removed key.
 *
 * An UPDATE would do the same, but QuestDB then invalidates a view of the table, and recomputes all hours of the fleet.
 * Rows that replace others refresh only their own hours.
 */

import { bug } from '../../../store/limits/bug.ts'
import { type Exec, untilTableApplied } from '../../../store/questdb/until-applied.ts'
import {
  deviceNamesTable,
  expiredHoursTable,
  expiredSeriesHoursTable,
  hourlyColumns,
  measurementsTable,
  metrics,
  pointsTable,
  readingsTable,
  restoredMeasurementsTable,
  restoredReadingsTable,
  seriesNamesTable,
} from '../../../store/tables.ts'
import type { ErasedRows, ErasedSeries } from './erase-records.ts'

type Pause = () => Promise<void>

/** Describes how rows of a table are erased. */
export interface ErasedTable {
  name: string
  /** Key of a row, together with `ts`. */
  keyColumn: string
  values: readonly string[]
  /** Partitions, which are rewritten one at a time. */
  unit: 'd' | 'M'
  /** Writes the key in a statement. */
  keyOf(value: string): string
  keysOf(series: ErasedSeries): string[]
}

const readings: ErasedTable = {
  name: readingsTable,
  keyColumn: 'device',
  values: metrics,
  unit: 'd',
  keyOf: quoteSymbol,
  keysOf: ({ symbols }) => symbols.map(quoteSymbol),
}
const measurements: ErasedTable = {
  name: measurementsTable,
  keyColumn: 'series',
  values: ['value'],
  unit: 'd',
  keyOf: number => number,
  keysOf: ({ customSeries }) => customSeries.map(String),
}

const tables = {
  readings,
  measurements,
  restoredReadings: { ...readings, name: restoredReadingsTable },
  restoredMeasurements: { ...measurements, name: restoredMeasurementsTable },
  expiredHours: {
    name: expiredHoursTable,
    keyColumn: 'device',
    unit: 'M',
    keyOf: quoteSymbol,
    // Every kept hour has all counts.
    values: hourlyColumns.filter(({ aggregate }) => aggregate === 'count').map(({ name }) => name),
    keysOf: ({ symbols }) => symbols.map(quoteSymbol),
  },
  expiredSeriesHours: {
    name: expiredSeriesHoursTable,
    keyColumn: 'series',
    unit: 'M',
    keyOf: number => number,
    // Every kept hour has a count.
    values: ['count'],
    keysOf: ({ customSeries }) => customSeries.map(String),
  },
  names: {
    name: deviceNamesTable,
    keyColumn: 'device',
    values: ['name', 'location_short'],
    unit: 'd',
    keyOf: quoteSymbol,
    keysOf: ({ symbols }) => symbols.map(quoteSymbol),
  },
  seriesNames: {
    name: seriesNamesTable,
    keyColumn: 'series',
    values: ['device', 'metric'],
    unit: 'd',
    keyOf: number => number,
    keysOf: ({ customSeries }) => customSeries.map(String),
  },
  points: {
    name: pointsTable,
    keyColumn: 'series',
    values: ['value'],
    unit: 'd',
    keyOf: number => number,
    keysOf: ({ numbers }) => numbers.map(String),
  },
} satisfies Record<string, ErasedTable>

/** The table of the rows comes first. The others exist only after expiries, restorations, and copies of names. */
export async function erasedTables(exec: Exec, rowsOf: ErasedRows): Promise<[ErasedTable, ...ErasedTable[]]> {
  if (rowsOf === 'points') return [tables.points]
  const found = new Set((await exec('SELECT table_name FROM tables()')).map(([name]) => name))
  const present = (some: readonly ErasedTable[]) => some.filter(({ name }) => found.has(name))
  const ofSeries = present([tables.expiredSeriesHours, tables.restoredMeasurements, tables.seriesNames])
  if (rowsOf === 'measurements') return [tables.measurements, ...ofSeries]
  return [
    tables.readings,
    tables.measurements,
    ...ofSeries,
    ...present([tables.expiredHours, tables.restoredReadings, tables.names]),
  ]
}

/**
 * Visits the partitions once, newest first. One by one, because QuestDB merges each partition that it writes to, and
 * new rows become visible between two of them. Returns the table's transaction that includes all changes.
 */
export async function eraseRows(
  exec: Exec,
  table: ErasedTable,
  keys: readonly string[],
  pause: Pause,
): Promise<number> {
  const { name, keyColumn, unit } = table
  const theirs = `${whereKeys(table, keys)} AND ${presentIn(table)}`
  // Earlier rows may be only in the table's log.
  let txn = await untilTableApplied(exec, name, pause)
  const starts = await exec(
    `SELECT DISTINCT timestamp_floor('${unit}', ts) AS start FROM ${name} WHERE ${theirs} ORDER BY start DESC`,
  )
  for (const [start] of starts) {
    const from = quoteTime(start)
    const ofPartition = `ts >= ${from} AND ts < dateadd('${unit}', 1, ${from})`
    await exec(
      `INSERT INTO ${name} (ts, ${keyColumn}) SELECT ts, ${keyColumn} FROM ${name} WHERE ${theirs} AND ${ofPartition}`,
    )
    txn = await untilTableApplied(exec, name, pause)
  }
  return txn
}

/** Counts the rows that still have values, and the erased ones. */
export async function countRows(
  exec: Exec,
  table: ErasedTable,
  keys: readonly string[],
): Promise<{ present: number; erased: number }> {
  const count = async (condition: string): Promise<number> => {
    const [row] = await exec(`SELECT count() FROM ${table.name} WHERE ${whereKeys(table, keys)} AND ${condition}`)
    return Number(row?.[0])
  }
  const absent = table.values.map(column => `${column} IS NULL`).join(' AND ')
  return { present: await count(presentIn(table)), erased: await count(absent) }
}

/** Keys that have rows with values. */
export async function keysPresent(exec: Exec, table: ErasedTable, keys: readonly string[]): Promise<string[]> {
  const { name, keyColumn, keyOf } = table
  const rows = await exec(
    `SELECT DISTINCT ${keyColumn} FROM ${name} WHERE ${whereKeys(table, keys)} AND ${presentIn(table)}`,
  )
  return rows.map(([key]) => keyOf(String(key)))
}

function presentIn({ values }: ErasedTable): string {
  return `(${values.map(column => `${column} IS NOT NULL`).join(' OR ')})`
}

function whereKeys({ keyColumn }: ErasedTable, keys: readonly string[]): string {
  return `${keyColumn} IN (${keys.join(', ')})`
}

/** The service generates symbols of these characters only. The statement has no bind parameters. */
function quoteSymbol(symbol: string): string {
  if (!/^[a-z0-9-]+$/.test(symbol)) throw bug(`a symbol is ${symbol}`)
  return `'${symbol}'`
}

function quoteTime(time: unknown): string {
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(time))) throw bug(`a time is ${time}`)
  return `'${time}'::timestamp`
}
