/**
 * What is in a table of QuestDB, day by day: rows, and a sum of each column. The sums are of whole numbers, which come out
 * the same in whatever order they are added up.
 */

import { metrics, pointsTable, readingsTable } from '../store/tables.ts'
import { BackupError } from './backup-error.ts'

/** Runs one statement of ours. */
export type Exec = (sql: string) => Promise<readonly (readonly (string | number | boolean | null)[])[]>

/** The day, its number of rows, and the sums. */
export type DaySums = (string | null)[]

const dayUs = 86_400_000_000
const timeOfDay = (column: string) => `cast(${column} AS LONG) % ${dayUs}`
const scaled = (column: string) => `cast(${column} * 10000 AS LONG)`

const summed: Record<string, readonly string[]> = {
  [readingsTable]: [timeOfDay('ts'), ...metrics.map(scaled)],
  [pointsTable]: [timeOfDay('ts'), 'cast(series AS LONG)', scaled('value'), timeOfDay('stored_at')],
}
export const summedTables = Object.keys(summed)

/** So many at a time, to stay within the time limit of a statement. */
const rowsPerStatement = 20_000_000

export async function readDaySums(exec: Exec, table: string): Promise<DaySums[]> {
  const sums = (summed[table] ?? []).map(term => `cast(sum(${term}) AS VARCHAR)`)
  const days: DaySums[] = []
  for (const { from, to } of await readRanges(exec, table)) {
    const rows = await exec(
      `SELECT timestamp_floor('d', ts) AS day, count(), ${sums.join(', ')} FROM ${table}
       WHERE ts >= '${from}' AND ts < dateadd('d', 1, '${to}'::TIMESTAMP) ORDER BY day`,
    )
    days.push(...rows.map(row => row.map(value => (value === null ? null : String(value)))))
  }
  return days
}

/** Neighbouring partitions, each of which is a day. */
async function readRanges(exec: Exec, table: string): Promise<{ from: string; to: string }[]> {
  const partitions = await exec(`SELECT name, numRows FROM table_partitions('${table}') ORDER BY name`)
  const ranges: { from: string; to: string }[] = []
  let rows = Number.POSITIVE_INFINITY
  for (const [name, count] of partitions) {
    const day = String(name).slice(0, 10)
    const last = ranges.at(-1)
    if (last === undefined || rows + Number(count) > rowsPerStatement) {
      ranges.push({ from: day, to: day })
      rows = 0
    } else last.to = day
    rows += Number(count)
  }
  return ranges
}

/** Resolves when everything that the tables have taken is applied, with their transactions; asks every `pause`. */
export async function untilApplied(exec: Exec, pause: () => Promise<void>): Promise<string> {
  const names = summedTables.map(name => `'${name}'`).join(', ')
  for (;;) {
    const columns = 'name, sequencerTxn, writerTxn, suspended'
    const rows = await exec(`SELECT ${columns} FROM wal_tables() WHERE name IN (${names}) ORDER BY name`)
    const suspended = rows.find(row => row[3] === true)
    if (suspended !== undefined) throw new BackupError(`The table ${suspended[0]} in QuestDB is suspended.`)
    if (rows.every(([, sequenced, applied]) => sequenced === applied)) return JSON.stringify(rows)
    await pause()
  }
}
