/**
 * Takes the readings of devices out of QuestDB, which has no way to delete rows: all their metrics are made null, and a
 * row without any metric counts nowhere as a reading. Their times remain, under a symbol that no device has any more.
 */

import assert from 'node:assert'
import { metrics, readingsTable } from '../../store/tables.ts'

/** Runs one statement of ours. */
export type Exec = (sql: string) => Promise<readonly (readonly (string | number | boolean | null)[])[]>

const present = `(${metrics.map(metric => `${metric} IS NOT NULL`).join(' OR ')})`
const absent = metrics.map(metric => `${metric} IS NULL`).join(' AND ')
const nulls = metrics.map(metric => `${metric} = NULL`).join(', ')

/**
 * Goes through the days once, newest first. Day by day, because an update rewrites whole columns of the days that it
 * touches, and what comes in meanwhile becomes visible between two days instead of after all of them.
 */
export async function eraseReadings(exec: Exec, symbols: readonly string[], pause: () => Promise<void>): Promise<void> {
  const theirs = whereSymbols(symbols)
  const days = await exec(
    `SELECT DISTINCT timestamp_floor('d', ts) AS day FROM ${readingsTable} WHERE ${theirs} AND ${present} ORDER BY day DESC`,
  )
  for (const [day] of days) {
    const from = quoteTime(day)
    const ofDay = `ts >= ${from} AND ts < dateadd('d', 1, ${from})`
    await exec(`UPDATE ${readingsTable} SET ${nulls} WHERE ${theirs} AND ${ofDay}`)
    await untilApplied(exec, pause)
  }
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

/** An answer to an update means that it is in the table's log; what it says holds when the writer has come past it. */
async function untilApplied(exec: Exec, pause: () => Promise<void>): Promise<void> {
  let target: number | undefined
  for (;;) {
    const [row] = await exec(`SELECT sequencerTxn, writerTxn FROM wal_tables() WHERE name = '${readingsTable}'`)
    target ??= Number(row?.[0])
    if (Number(row?.[1]) >= target) return
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
