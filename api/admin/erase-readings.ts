/**
 * Takes the readings of devices out of QuestDB, which has no way to delete rows: each row is written again without any
 * metric, and so counts nowhere as a reading. The times remain, under a symbol that no device has any more.
 *
 * An UPDATE would do the same, but QuestDB then gives up the hourly view, and all hours of the fleet are computed
 * anew. Rows that replace others make it refresh the hours that they stand in, and no more.
 */

import assert from 'node:assert'
import { metrics, readingsTable } from '../../store/tables.ts'

/** Runs one statement of ours. */
export type Exec = (sql: string) => Promise<readonly (readonly (string | number | boolean | null)[])[]>
type Pause = () => Promise<void>

const present = `(${metrics.map(metric => `${metric} IS NOT NULL`).join(' OR ')})`
const absent = metrics.map(metric => `${metric} IS NULL`).join(' AND ')

/**
 * Goes through the days once, newest first. Day by day, because QuestDB merges each day that it touches anew, and what
 * comes in meanwhile becomes visible between two days instead of after all of them. Gives the table's transaction up to
 * which all of it is applied.
 */
export async function eraseReadings(exec: Exec, symbols: readonly string[], pause: Pause): Promise<number> {
  const theirs = `${whereSymbols(symbols)} AND ${present}`
  // What was sent before may be in the table's log only.
  let txn = await untilApplied(exec, pause)
  const days = await exec(
    `SELECT DISTINCT timestamp_floor('d', ts) AS day FROM ${readingsTable} WHERE ${theirs} ORDER BY day DESC`,
  )
  for (const [day] of days) {
    const from = quoteTime(day)
    const ofDay = `ts >= ${from} AND ts < dateadd('d', 1, ${from})`
    await exec(
      `INSERT INTO ${readingsTable} (ts, device) SELECT ts, device FROM ${readingsTable} WHERE ${theirs} AND ${ofDay}`,
    )
    txn = await untilApplied(exec, pause)
  }
  return txn
}

/** How many readings there still are, and how many rows are left of those that were. */
export async function countReadings(
  exec: Exec,
  symbols: readonly string[],
): Promise<{ present: number; erased: number }> {
  const count = async (condition: string): Promise<number> => {
    const [row] = await exec(`SELECT count() FROM ${readingsTable} WHERE ${whereSymbols(symbols)} AND ${condition}`)
    return Number(row?.[0])
  }
  return { present: await count(present), erased: await count(absent) }
}

/** An answer to a statement means that it is in the table's log; what it says holds when the writer has come past it. */
async function untilApplied(exec: Exec, pause: Pause): Promise<number> {
  let target: number | undefined
  for (;;) {
    const [row] = await exec(`SELECT sequencerTxn, writerTxn FROM wal_tables() WHERE name = '${readingsTable}'`)
    target ??= Number(row?.[0])
    if (Number(row?.[1]) >= target) return target
    await pause()
  }
}

/** Symbols are made by us of these characters only; the statement has no bind parameters. */
function whereSymbols(symbols: readonly string[]): string {
  for (const symbol of symbols) assert.match(symbol, /^[a-z0-9-]+$/)
  return `device IN (${symbols.map(symbol => `'${symbol}'`).join(', ')})`
}

function quoteTime(time: unknown): string {
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  return `'${time}'::timestamp`
}
