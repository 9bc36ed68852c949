/** Sums a table of QuestDB by day. Integer sums do not depend on the order of addition. */

import pg from 'pg'
import Cursor from 'pg-cursor'
import type { QuestdbPg } from '../../store/questdb/client/questdb-address.ts'
import {
  expiredDaysTable,
  expiredHoursTable,
  expiredSeriesDaysTable,
  expiredSeriesHoursTable,
  hourlyColumns,
  measurementsTable,
  metrics,
  pointsTable,
  readingsTable,
  seriesHourColumns,
} from '../../store/tables.ts'
import { BackupError } from './backup-parts.ts'

/** Runs one internal statement. */
export type Exec = (sql: string) => Promise<readonly (readonly (string | number | boolean | null)[])[]>

/** Day, number of rows, and sums. */
export type DaySums = (string | null)[]

const dayUs = 86_400_000_000
const timeOfDay = (column: string) => `cast(${column} AS LONG) % ${dayUs}`
const scaled = (column: string) => `cast(${column} * 10000 AS LONG)`

const sumOf = { LONG: (column: string) => column, DOUBLE: scaled, TIMESTAMP: timeOfDay }

const summed: Record<string, readonly string[]> = {
  [readingsTable]: [timeOfDay('ts'), ...metrics.map(scaled)],
  [expiredHoursTable]: [
    timeOfDay('ts'),
    ...hourlyColumns.map(({ name, aggregate }) => (aggregate === 'count' ? name : scaled(name))),
  ],
  [expiredDaysTable]: ['readings', 'hours'],
  [measurementsTable]: [timeOfDay('ts'), 'cast(series AS LONG)', scaled('value')],
  [expiredSeriesHoursTable]: [
    timeOfDay('ts'),
    'cast(series AS LONG)',
    ...seriesHourColumns.map(({ name, type }) => sumOf[type](name)),
  ],
  [expiredSeriesDaysTable]: ['readings', 'hours'],
  [pointsTable]: [timeOfDay('ts'), 'cast(series AS LONG)', scaled('value'), timeOfDay('stored_at')],
}

/** Existing tables. Tables of expired readings exist only after an expiry. */
export async function listSummedTables(exec: Exec): Promise<string[]> {
  const found = new Set((await exec('SELECT table_name FROM tables()')).map(([name]) => name))
  return Object.keys(summed).filter(name => found.has(name))
}

/** QuestDB's default of 30 seconds is too short for a table of a billion rows. */
const statementTimeoutMs = 3_600_000
const openMsMax = 60_000
const daysPerRead = 1000

/** Sums of a table as of their opening, regardless of later writes. */
export interface OpenDaySums {
  /** Computes them; call it once. */
  read(): Promise<DaySums[]>
  /** Idempotent, and callable at any time. */
  close(): Promise<void>
}

interface SummedRows {
  /** Start of the first day, epoch milliseconds. */
  fromMs: number
  /** Exclusive end, the start of a day. */
  toMs?: number
  /** Leaves out rows without a value, which erasures leave. */
  isOfValues?: boolean
}

/** Resolves at once for a table of any size. The signal closes the connection. By default, all rows count. */
export async function openDaySums(
  address: QuestdbPg,
  table: string,
  signal?: AbortSignal,
  rows?: SummedRows,
): Promise<OpenDaySums> {
  signal?.throwIfAborted()
  const { host, port, user, password, database } = address
  const options = `-c statement_timeout=${statementTimeoutMs}`
  const client = new pg.Client({ host, port, user, password, database, ssl: false, options })
  const close = () => client.end().catch(() => undefined)
  // Pending queries reject with the error.
  client.on('error', () => undefined)
  signal?.addEventListener('abort', () => void close(), { once: true })
  const timer = setTimeout(close, openMsMax)
  try {
    await client.connect()
    const cursor = client.query(new Cursor<DaySums>(daySumsSql(table, rows), [], { rowMode: 'array' }))
    await cursor.read(1)
    return { read: () => readDays(cursor).finally(close), close }
  } catch (error) {
    await close()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** The first row is free and arrives after the snapshot is taken. The days are computed on demand. */
function daySumsSql(table: string, rows: SummedRows | undefined): string {
  const where = rows === undefined ? '' : whereSql(table, rows)
  const terms = ['count()', ...(summed[table] ?? []).map(term => `sum(${term})`)]
  const columns = (textOf: (term: string, name: string) => string) =>
    terms.map((term, index) => `${textOf(term, `term${index}`)} AS term${index}`).join(', ')
  return `SELECT cast(NULL AS VARCHAR) AS day, ${columns(() => 'cast(NULL AS VARCHAR)')} FROM long_sequence(1)
    UNION ALL SELECT cast(day AS VARCHAR) AS day, ${columns((_, name) => `cast(${name} AS VARCHAR)`)}
    FROM (SELECT timestamp_floor('d', ts) AS day, ${columns(term => term)} FROM ${table}${where})`
}

function whereSql(table: string, { fromMs, toMs, isOfValues = false }: SummedRows): string {
  const conditions = [`ts >= cast(${fromMs * 1000} AS TIMESTAMP)`]
  if (toMs !== undefined) conditions.push(`ts < cast(${toMs * 1000} AS TIMESTAMP)`)
  const values = table === readingsTable ? metrics : ['value']
  if (isOfValues) conditions.push(`(${values.map(name => `${name} IS NOT NULL`).join(' OR ')})`)
  return ` WHERE ${conditions.join(' AND ')}`
}

async function readDays(cursor: Cursor<DaySums>): Promise<DaySums[]> {
  const days: DaySums[] = []
  for (;;) {
    const read = await cursor.read(daysPerRead)
    if (read.length === 0) break
    days.push(...read)
  }
  return days.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1))
}

/**
 * Resolves when the tables have applied all accepted rows, and returns their transactions. Polls after each `pause`.
 */
export async function untilApplied(exec: Exec, pause: () => Promise<void>): Promise<string> {
  const names = Object.keys(summed)
    .map(name => `'${name}'`)
    .join(', ')
  for (;;) {
    const columns = 'name, sequencerTxn, writerTxn, suspended'
    const rows = await exec(`SELECT ${columns} FROM wal_tables() WHERE name IN (${names}) ORDER BY name`)
    const suspended = rows.find(row => row[3] === true)
    if (suspended !== undefined) throw new BackupError(`The table ${suspended[0]} in QuestDB is suspended.`)
    if (rows.every(([, sequenced, applied]) => sequenced === applied)) return JSON.stringify(rows)
    await pause()
  }
}
