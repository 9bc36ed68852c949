/**
 * Takes the rows of series out of a table of QuestDB, which has no way to delete rows: each is written again without any
 * value, and so counts nowhere. The times remain, under a key that nothing has any more.
 *
 * An UPDATE would do the same, but QuestDB then gives up a view of the table, and all hours of the fleet are computed
 * anew. Rows that replace others make it refresh the hours that they stand in, and no more.
 */

import assert from 'node:assert'
import { metrics, pointsTable, readingsTable } from '../../store/tables.ts'
import type { ErasedRows, EraseJob } from './erase-records.ts'

/** Runs one statement of ours. */
export type Exec = (sql: string) => Promise<readonly (readonly (string | number | boolean | null)[])[]>
type Pause = () => Promise<void>

/** A table as its rows are erased. */
interface ErasedTable {
  name: string
  /** With `ts` the key of a row. */
  keyColumn: string
  values: readonly string[]
  /** As it stands in a statement. */
  keyOf(value: string): string
  /** Of the series of a job. */
  keysOf(job: Pick<EraseJob, 'numbers' | 'symbols'>): string[]
}

export const erasedTables: Record<ErasedRows, ErasedTable> = {
  readings: {
    ...{ name: readingsTable, keyColumn: 'device', values: metrics, keyOf: quoteSymbol },
    keysOf: ({ symbols }) => symbols.map(quoteSymbol),
  },
  points: {
    ...{ name: pointsTable, keyColumn: 'series', values: ['value'], keyOf: number => number },
    keysOf: ({ numbers }) => numbers.map(String),
  },
}

/**
 * Goes through the days once, newest first. Day by day, because QuestDB merges each day that it touches anew, and what
 * comes in meanwhile becomes visible between two days instead of after all of them. Gives the table's transaction up to
 * which all of it is applied.
 */
export async function eraseRows(
  exec: Exec,
  table: ErasedTable,
  keys: readonly string[],
  pause: Pause,
): Promise<number> {
  const { name, keyColumn } = table
  const theirs = `${whereKeys(table, keys)} AND ${presentIn(table)}`
  // What was sent before may be in the table's log only.
  let txn = await untilApplied(exec, table, pause)
  const days = await exec(
    `SELECT DISTINCT timestamp_floor('d', ts) AS day FROM ${name} WHERE ${theirs} ORDER BY day DESC`,
  )
  for (const [day] of days) {
    const from = quoteTime(day)
    const ofDay = `ts >= ${from} AND ts < dateadd('d', 1, ${from})`
    await exec(
      `INSERT INTO ${name} (ts, ${keyColumn}) SELECT ts, ${keyColumn} FROM ${name} WHERE ${theirs} AND ${ofDay}`,
    )
    txn = await untilApplied(exec, table, pause)
  }
  return txn
}

/** How many rows still have values, and how many are left of those that had. */
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

/** Those of the keys that have rows with values. */
export async function keysPresent(exec: Exec, table: ErasedTable, keys: readonly string[]): Promise<string[]> {
  const { name, keyColumn, keyOf } = table
  const rows = await exec(
    `SELECT DISTINCT ${keyColumn} FROM ${name} WHERE ${whereKeys(table, keys)} AND ${presentIn(table)}`,
  )
  return rows.map(([key]) => keyOf(String(key)))
}

/** An answer to a statement means that it is in the table's log; what it says holds when the writer has come past it. */
async function untilApplied(exec: Exec, { name }: ErasedTable, pause: Pause): Promise<number> {
  let target: number | undefined
  for (;;) {
    const [row] = await exec(`SELECT sequencerTxn, writerTxn FROM wal_tables() WHERE name = '${name}'`)
    target ??= Number(row?.[0])
    if (Number(row?.[1]) >= target) return target
    await pause()
  }
}

function presentIn({ values }: ErasedTable): string {
  return `(${values.map(column => `${column} IS NOT NULL`).join(' OR ')})`
}

function whereKeys({ keyColumn }: ErasedTable, keys: readonly string[]): string {
  return `${keyColumn} IN (${keys.join(', ')})`
}

/** Symbols are made by us of these characters only; the statement has no bind parameters. */
function quoteSymbol(symbol: string): string {
  assert.match(symbol, /^[a-z0-9-]+$/)
  return `'${symbol}'`
}

function quoteTime(time: unknown): string {
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  return `'${time}'::timestamp`
}
