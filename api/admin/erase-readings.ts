/**
 * Takes the readings of devices out of QuestDB, which has no way to delete rows: all their metrics are made null, and a
 * row without any metric counts nowhere as a reading. Their times remain, under a symbol that no device has any more.
 */

import assert from 'node:assert'
import { metrics, readingsTable } from '../../store/tables.ts'

/** Runs one statement of ours. */
export type Exec = (sql: string) => Promise<readonly (readonly (string | number | boolean | null)[])[]>

export interface EraseReadingsOptions {
  exec: Exec
  symbols: readonly string[]
  /** Called after each step with the readings that it erased. */
  erased: (rows: number) => Promise<void>
  pause: () => Promise<void>
}

const present = `(${metrics.map(metric => `${metric} IS NOT NULL`).join(' OR ')})`
const nulls = metrics.map(metric => `${metric} = NULL`).join(', ')

/**
 * Day by day, newest first: an update rewrites whole columns of the days that it touches, and readings that come in
 * meanwhile become visible between two days instead of after all of them. Resolves when each day was gone through once.
 */
export async function eraseReadings({ exec, symbols, erased, pause }: EraseReadingsOptions): Promise<void> {
  const theirs = `device IN (${symbols.map(quoteSymbol).join(', ')})`
  const days = await exec(
    `SELECT timestamp_floor('d', ts) AS day, count() FROM ${readingsTable} WHERE ${theirs} AND ${present} ORDER BY day DESC`,
  )
  for (const [day, rows] of days) {
    const from = quoteTime(day)
    await exec(
      `UPDATE ${readingsTable} SET ${nulls} WHERE ${theirs} AND ts >= ${from} AND ts < dateadd('d', 1, ${from})`,
    )
    await untilApplied(exec, pause)
    await erased(Number(rows))
  }
}

export async function countReadings(exec: Exec, symbols: readonly string[]): Promise<number> {
  const theirs = `device IN (${symbols.map(quoteSymbol).join(', ')})`
  const [row] = await exec(`SELECT count() FROM ${readingsTable} WHERE ${theirs} AND ${present}`)
  return Number(row?.[0])
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
function quoteSymbol(symbol: string): string {
  assert.match(symbol, /^[a-z0-9-]+$/)
  return `'${symbol}'`
}

function quoteTime(time: unknown): string {
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  return `'${time}'::timestamp`
}
