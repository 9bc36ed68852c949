/** Stores the erase jobs in PostgreSQL, so that a later process completes a job that was begun. */

import type pg from 'pg'
import { z } from 'zod'
import { bug } from '../../../store/limits/bug.ts'

type Database = Pick<pg.Pool, 'query'>

/** Readings of a device, its values of a custom metric, or points of a station. */
export type ErasedRows = 'readings' | 'measurements' | 'points'

const progress = {
  state: z.enum(['waiting', 'running', 'done', 'failed']),
  /**
   * Number of readings, points or values of these series that this job or earlier ones have erased; null until it is
   * done. Rows that had not reached QuestDB do not count.
   */
  rows: z.int().nullable(),
  requested_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  /** Reason of the failure, or of the present delay. */
  error: z.string().nullable(),
}

/** Published report of a job. */
export const EraseReport = z.object({
  device: z.string(),
  /** Symbols of its readings; several if devices of this name were removed before. */
  symbols: z.array(z.string()),
  ...progress,
})
export type EraseReport = z.infer<typeof EraseReport>

export const MetricEraseReport = z.object({ device: z.string(), metric: z.string(), ...progress })
export type MetricEraseReport = z.infer<typeof MetricEraseReport>

export const StationEraseReport = z.object({ sn: z.string(), ...progress })
export type StationEraseReport = z.infer<typeof StationEraseReport>

export interface EraseJob {
  id: number
  /** Increases at each start of the job. */
  run: number
  rowsOf: ErasedRows
  /** Name of the device or the station. */
  name: string
  requestedAt: Date
  /** Numbers of the devices, or of the series of the metric or the station. All of them are removed. */
  numbers: number[]
  /** Device and metric of an erased metric; null for all others. */
  device: number | null
  metric: string | null
  symbols: string[]
  /** Series of custom metrics: of the devices, or of the metric. */
  customSeries: number[]
}

export type ErasedSeries = Pick<EraseJob, 'numbers' | 'symbols' | 'customSeries'>

const reportColumns = `id::float8, name, metric, symbols, state, CASE state WHEN 'done' THEN rows::float8 END AS rows, requested_at, started_at,
  finished_at, error`

interface ReportRow extends Omit<EraseReport, 'device' | 'requested_at' | 'started_at' | 'finished_at'> {
  id: number
  name: string
  metric: string | null
  requested_at: Date
  started_at: Date | null
  finished_at: Date | null
}

function reportOf({ name, symbols, ...row }: ReportRow): EraseReport {
  return { device: name, symbols, ...progressOf(row) }
}

function metricReportOf({ name, metric, symbols: _, ...row }: ReportRow): MetricEraseReport {
  return { device: name, metric: metric ?? '', ...progressOf(row) }
}

type Progress = Pick<EraseReport, keyof typeof progress>

function progressOf({
  state,
  rows,
  requested_at,
  started_at,
  finished_at,
  error,
}: Omit<ReportRow, 'id' | 'name' | 'metric' | 'symbols'>): Progress {
  return {
    state,
    rows,
    error,
    requested_at: requested_at.toISOString(),
    started_at: started_at?.toISOString() ?? null,
    finished_at: finished_at?.toISOString() ?? null,
  }
}

export interface AddedJob<Report> {
  id: number
  report: Report
}

/** Inserts a job for the readings of a device. */
export async function insertJob(
  database: Database,
  device: string,
  records: readonly { number: number; symbol: string }[],
  by: string,
): Promise<AddedJob<EraseReport>> {
  const text = `
    WITH added AS (
      INSERT INTO erase_jobs (rows_of, name, numbers, symbols) VALUES ('readings', $1, $2, $3) RETURNING *
    ), audited AS (
      INSERT INTO audit (actor, action, subject, details)
      SELECT $4, 'device.erase', name, jsonb_build_object('symbols', symbols) FROM added
    )
    SELECT ${reportColumns} FROM added`
  const numbers = records.map(record => record.number)
  const symbols = records.map(record => record.symbol)
  const { rows } = await database.query<ReportRow>(text, [device, numbers, symbols, by])
  const [row] = rows
  if (row === undefined) throw bug('an insert gave no row')
  return { id: row.id, report: reportOf(row) }
}

export interface MetricToErase {
  device: { number: number; name: string }
  metric: string
  /** Removed series; undefined if the device has no such metric now. */
  series: number | undefined
  by: string
}

/** Covers a metric that is being removed, and its failed jobs without a later one. Undefined without either. */
export async function insertMetricJob(
  database: Database,
  { device, metric, series, by }: MetricToErase,
): Promise<AddedJob<MetricEraseReport> | undefined> {
  const text = `
    WITH of_metric AS (
      SELECT unnest(numbers) AS number, state FROM erase_jobs WHERE rows_of = 'measurements' AND device = $1 AND metric = $3
    ), wanted AS (
      SELECT $4::int AS number WHERE $4 IS NOT NULL
      UNION (SELECT number FROM of_metric EXCEPT SELECT number FROM of_metric WHERE state <> 'failed')
    ), added AS (
      INSERT INTO erase_jobs (rows_of, device, name, metric, numbers, symbols)
      SELECT 'measurements', $1, $2, $3, array_agg(number ORDER BY number), '{}' FROM wanted HAVING count(*) > 0
      RETURNING *
    ), audited AS (
      INSERT INTO audit (actor, action, subject, details)
      SELECT $5, 'device.erase-metric', name, jsonb_build_object('metric', metric, 'series', numbers) FROM added
    )
    SELECT ${reportColumns} FROM added`
  const { rows } = await database.query<ReportRow>(text, [device.number, device.name, metric, series, by])
  const [row] = rows
  return row && { id: row.id, report: metricReportOf(row) }
}

/**
 * Inserts a job for the points of a removed station. The job includes points of failed jobs of its `sn` that no later
 * job covers. Returns the id of the job; undefined without either. The audit has the removal.
 */
export async function insertStationJob(
  database: Database,
  sn: string,
  numbers: readonly number[],
): Promise<number | undefined> {
  const text = `
    WITH of_station AS (
      SELECT unnest(numbers) AS number, state FROM erase_jobs WHERE rows_of = 'points' AND name = $1
    ), wanted AS (
      SELECT unnest($2::int[]) AS number
      UNION (SELECT number FROM of_station EXCEPT SELECT number FROM of_station WHERE state <> 'failed')
    )
    INSERT INTO erase_jobs (rows_of, name, numbers, symbols)
    SELECT 'points', $1, array_agg(number ORDER BY number), '{}' FROM wanted HAVING count(*) > 0
    RETURNING id::float8`
  const { rows } = await database.query<{ id: number }>(text, [sn, [...numbers]])
  return rows[0]?.id
}

/** The newest job of a device in any state. */
export async function readReport(database: Database, device: string): Promise<EraseReport | undefined> {
  const row = await readNewest(database, 'readings', device)
  return row && reportOf(row)
}

/** The newest job of a metric of a device of this name. */
export async function readMetricReport(
  database: Database,
  device: string,
  metric: string,
): Promise<MetricEraseReport | undefined> {
  const row = await readNewest(database, 'measurements', device, metric)
  return row && metricReportOf(row)
}

/** The newest job of a station. */
export async function readStationReport(database: Database, sn: string): Promise<StationEraseReport | undefined> {
  const row = await readNewest(database, 'points', sn)
  if (row === undefined) return undefined
  return { sn, ...progressOf(row) }
}

async function readNewest(
  database: Database,
  rowsOf: ErasedRows,
  name: string,
  metric: string | null = null,
): Promise<ReportRow | undefined> {
  const text = `SELECT ${reportColumns} FROM erase_jobs
    WHERE rows_of = $1 AND name = $2 AND metric IS NOT DISTINCT FROM $3 ORDER BY id DESC LIMIT 1`
  const { rows } = await database.query<ReportRow>(text, [rowsOf, name, metric])
  return rows[0]
}

/** Series and names of these jobs in any state. */
export async function readSeries(
  database: Database,
  ids: readonly number[],
): Promise<Pick<EraseJob, 'rowsOf' | 'numbers' | 'name'>[]> {
  const { rows } = await database.query<Pick<EraseJob, 'rowsOf' | 'numbers' | 'name'>>(
    'SELECT rows_of AS "rowsOf", numbers, name FROM erase_jobs WHERE id = ANY($1::bigint[])',
    [[...ids]],
  )
  return rows
}

/** Marks the oldest job that has not ended as running and returns it; undefined without one. */
export async function takeJob(database: Database): Promise<EraseJob | undefined> {
  const text = `UPDATE erase_jobs SET state = 'running', runs = runs + 1, started_at = coalesce(started_at, now()) WHERE id = (
      SELECT min(id) FROM erase_jobs WHERE state IN ('waiting', 'running')
    ) RETURNING id::float8, runs AS run, rows_of AS "rowsOf", name, requested_at AS "requestedAt", numbers, device, metric, symbols, ${customSeriesOf('erase_jobs')}`
  const { rows } = await database.query<EraseJob>(text)
  return rows[0]
}

/** Excludes jobs that a later run has begun. */
const ofRun = "WHERE id = $1 AND runs = $2 AND state = 'running'"

export async function noteDelay(database: Database, { id, run }: EraseJob, error: string | null): Promise<void> {
  await database.query(`UPDATE erase_jobs SET error = $3 ${ofRun}`, [id, run, error])
}

/**
 * Notes the number of values before the first is erased: afterwards their rows look like rows of replaced values.
 * Returns the number at the start of the job, which an earlier process may have noted.
 */
export async function noteValues(database: Database, id: number, values: number): Promise<number> {
  const text = 'UPDATE erase_jobs SET rows = greatest(rows, $2) WHERE id = $1 RETURNING rows::float8'
  const { rows } = await database.query<{ rows: number }>(text, [id, values])
  return rows[0]?.rows ?? values
}

/** With `rows` and an error, all rows are erased except damaged dead letters. */
export type EraseEnd = { rows: number; error?: string } | { rows?: never; error: string }

/** False if another run has begun. */
export async function endJob(database: Database, { id, run }: EraseJob, { rows, error }: EraseEnd): Promise<boolean> {
  const text = `UPDATE erase_jobs SET state = $3, rows = $4, error = $5, finished_at = now() ${ofRun}`
  const state = error === undefined ? 'done' : 'failed'
  return (await database.query(text, [id, run, state, rows ?? null, error ?? null])).rowCount === 1
}

/** The job ended the process, so only a person requests it again. */
export async function setJobAside(database: Database, id: string): Promise<void> {
  const text = `UPDATE erase_jobs SET state = 'failed', rows = NULL, error = 'it ended the service', finished_at = now()
    WHERE id = $1 AND state IN ('waiting', 'running')`
  await database.query(text, [id])
}

/** Series of all jobs that have erased all rows, also with damaged dead letters. They must have no rows. */
export async function readErased(database: Database, rowsOf: ErasedRows): Promise<ErasedSeries> {
  const column = (name: 'numbers' | 'symbols') =>
    `ARRAY(SELECT DISTINCT unnest(${name}) AS item FROM erase_jobs WHERE rows_of = $1 AND state IN ('done', 'failed') AND rows IS NOT NULL
      ORDER BY item)`
  const text = `SELECT numbers, symbols, ${customSeriesOf('done')}
    FROM (SELECT $1 AS rows_of, ${column('numbers')} AS numbers, ${column('symbols')} AS symbols) AS done`
  const { rows } = await database.query<ErasedSeries>(text, [rowsOf])
  return rows[0] ?? { numbers: [], symbols: [], customSeries: [] }
}

/** Devices have their present series, and removed ones whose own jobs may have failed. Stations have none. */
function customSeriesOf(row: 'erase_jobs' | 'done'): string {
  const ofDevices = `ARRAY(
      SELECT number FROM metric_series WHERE device = ANY(${row}.numbers)
      UNION SELECT unnest(of_metric.numbers) FROM erase_jobs of_metric WHERE of_metric.device = ANY(${row}.numbers)
      ORDER BY number)`
  const text = `CASE ${row}.rows_of WHEN 'readings' THEN ${ofDevices} WHEN 'measurements' THEN ${row}.numbers ELSE '{}' END`
  return `${text} AS "customSeries"`
}
