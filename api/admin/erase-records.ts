/** The erase jobs in PostgreSQL, so that one that was begun is ended even if the process does not live that long. */

import assert from 'node:assert'
import type pg from 'pg'
import { z } from 'zod'

type Database = Pick<pg.Pool, 'query'>

/** The report of a job, as it is answered. */
export const EraseReport = z.object({
  device: z.string(),
  /** Under which its readings lie; more than one when devices of this name were removed before. */
  symbols: z.array(z.string()),
  state: z.enum(['waiting', 'running', 'done', 'failed']),
  /**
   * How many readings of these symbols are erased, by this job or one before; null until it is done. What had not come to
   * QuestDB does not count.
   */
  rows: z.int().nullable(),
  requested_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  /** Why it failed, or, while it runs, what it waits for. */
  error: z.string().nullable(),
})
export type EraseReport = z.infer<typeof EraseReport>

export interface EraseJob {
  id: number
  /** Of the devices, none of which exists any more. */
  numbers: number[]
  symbols: string[]
}

const reportColumns = 'device, symbols, state, rows::float8, requested_at, started_at, finished_at, error'

interface ReportRow extends Omit<EraseReport, 'requested_at' | 'started_at' | 'finished_at'> {
  requested_at: Date
  started_at: Date | null
  finished_at: Date | null
}

function reportOf({ requested_at, started_at, finished_at, ...rest }: ReportRow): EraseReport {
  return {
    ...rest,
    requested_at: requested_at.toISOString(),
    started_at: started_at?.toISOString() ?? null,
    finished_at: finished_at?.toISOString() ?? null,
  }
}

export async function insertJob(
  database: Database,
  device: string,
  records: readonly { number: number; symbol: string }[],
  by: string,
): Promise<EraseReport> {
  const text = `
    WITH added AS (
      INSERT INTO erase_jobs (device, numbers, symbols) VALUES ($1, $2, $3) RETURNING *
    ), audited AS (
      INSERT INTO audit (actor, action, subject, details)
      SELECT $4, 'device.erase', device, jsonb_build_object('symbols', symbols) FROM added
    )
    SELECT ${reportColumns} FROM added`
  const numbers = records.map(record => record.number)
  const symbols = records.map(record => record.symbol)
  const { rows } = await database.query<ReportRow>(text, [device, numbers, symbols, by])
  const [row] = rows
  assert(row !== undefined, 'an insert gave no row')
  return reportOf(row)
}

/** The newest job of a device, whatever its state. */
export async function readReport(database: Database, device: string): Promise<EraseReport | undefined> {
  const text = `SELECT ${reportColumns} FROM erase_jobs WHERE device = $1 ORDER BY id DESC LIMIT 1`
  const { rows } = await database.query<ReportRow>(text, [device])
  const [row] = rows
  return row === undefined ? undefined : reportOf(row)
}

/** The oldest job that has not ended, marked as running; undefined when there is none. */
export async function takeJob(database: Database): Promise<EraseJob | undefined> {
  const text = `UPDATE erase_jobs SET state = 'running', started_at = coalesce(started_at, now()) WHERE id = (
      SELECT min(id) FROM erase_jobs WHERE state IN ('waiting', 'running')
    ) RETURNING id::float8, numbers, symbols`
  const { rows } = await database.query<EraseJob>(text)
  return rows[0]
}

export async function noteDelay(database: Database, id: number, error: string): Promise<void> {
  await database.query('UPDATE erase_jobs SET error = $2 WHERE id = $1', [id, error])
}

export type EraseEnd = { rows: number } | { error: string }

export async function endJob(database: Database, id: number, end: EraseEnd): Promise<void> {
  const text = 'UPDATE erase_jobs SET state = $2, rows = $3, error = $4, finished_at = now() WHERE id = $1'
  const values = 'rows' in end ? ['done', end.rows, null] : ['failed', null, end.error]
  await database.query(text, [id, ...values])
}

/** Under which there must be no readings any more. */
export async function readErasedSymbols(database: Database): Promise<string[]> {
  const text = "SELECT DISTINCT unnest(symbols) AS symbol FROM erase_jobs WHERE state = 'done' ORDER BY symbol"
  const { rows } = await database.query<{ symbol: string }>(text)
  return rows.map(row => row.symbol)
}
