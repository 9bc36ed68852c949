/** Reads and writes the notes of archived days in PostgreSQL: a day with a note counts as archived. */

import type pg from 'pg'
import type { ArchivedName, Sums } from './archived-tables.ts'
import type { FileFacts } from './day-file.ts'

type Database = Pick<pg.Pool, 'query'>

export interface ArchivedFile extends FileFacts {
  readonly key: string
  readonly table: ArchivedName
  /** Range of its rows, epoch milliseconds. */
  readonly fromMs: number
  readonly toMs: number
}

export interface ArchivedDay {
  /** Epoch milliseconds. */
  readonly startMs: number
  readonly revision: number
  /** Sums of the rows in QuestDB that the files contain. */
  readonly source: Readonly<Record<ArchivedName, Sums>>
  readonly files: readonly ArchivedFile[]
  readonly writtenAt: Date
}

const timeoutMs = 10_000
const columns = `extract(epoch FROM day)::float8 * 1000 AS "startMs", revision, source, files, written_at AS "writtenAt"`

function query<Row extends pg.QueryResultRow>(database: Database, text: string, values: unknown[]) {
  return database.query<Row>({ text, values, query_timeout: timeoutMs } as pg.QueryConfig)
}

/** Id of this service in its archive: other services must not remove its files as left-overs. */
export async function readArchiveId(database: Database): Promise<string> {
  const text = `INSERT INTO archive DEFAULT VALUES ON CONFLICT (is_only) DO UPDATE SET is_only = true RETURNING id`
  const { rows } = await query<{ id: string }>(database, text, [])
  return rows[0]?.id ?? ''
}

export async function readDay(database: Database, startMs: number): Promise<ArchivedDay | undefined> {
  const text = `SELECT ${columns} FROM archived_days WHERE day = $1::date`
  return (await query<ArchivedDay>(database, text, [dateOf(startMs)])).rows[0]
}

/** Ascending, from this day on. */
export async function readDays(database: Database, fromMs: number, daysMax: number): Promise<ArchivedDay[]> {
  const text = `SELECT ${columns} FROM archived_days WHERE day >= $1::date ORDER BY day LIMIT $2`
  return (await query<ArchivedDay>(database, text, [dateOf(fromMs), daysMax])).rows
}

export async function readStarts(database: Database): Promise<number[]> {
  const text = 'SELECT extract(epoch FROM day)::float8 * 1000 AS "startMs" FROM archived_days ORDER BY day'
  return (await query<{ startMs: number }>(database, text, [])).rows.map(({ startMs }) => startMs)
}

/** Rejects if the day has changed since it was read, for example by a new leader. */
export async function writeDay(
  database: Database,
  before: Pick<ArchivedDay, 'revision'> | undefined,
  { startMs, source, files }: Pick<ArchivedDay, 'startMs' | 'source' | 'files'>,
): Promise<void> {
  const text = `INSERT INTO archived_days (day, revision, source, files) VALUES ($1::date, $2 + 1, $3, $4)
    ON CONFLICT (day) DO UPDATE
    SET revision = excluded.revision, source = excluded.source, files = excluded.files, written_at = now()
    WHERE archived_days.revision = $2`
  const values = [dateOf(startMs), before?.revision ?? 0, JSON.stringify(source), JSON.stringify(files)]
  const { rowCount } = await query(database, text, values)
  if (rowCount !== 1) throw new Error(`the archived day ${dateOf(startMs)} was changed meanwhile`)
}

function dateOf(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString().slice(0, 10)
}
