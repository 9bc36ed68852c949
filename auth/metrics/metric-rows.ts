/** Reads and writes the rows of metrics and of their series. */

import type pg from 'pg'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { type Metric, MetricChange, type NewMetric } from '../../store/metrics/metric.ts'
import { titleOfName } from '../../store/metrics/metric-name.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { assignments, rowsAsJson } from '../columns.ts'

type Database = Pick<pg.Pool, 'query'>

const columns = 'id, name, title, unit, kind, decimals, min, max, quality, color, position, built_in, owner, version'

export type MetricRow = Metric & {
  /** Account of the device whose reading made it; null for metrics of the catalogue. */
  readonly owner: number | null
  /** Increases with each change of the row. */
  readonly version: number
}

export const idsOf = (rows: readonly Pick<MetricRow, 'id'>[]): number[] => rows.map(({ id }) => id)

/** A metric of a device. */
export interface SeriesRow {
  number: number
  device: number
  metric: number
}

export async function readMetrics(database: Database): Promise<MetricRow[]> {
  return (await database.query<MetricRow>(`SELECT ${columns} FROM metrics`)).rows
}

export async function readMetricsNamed(database: Database, names: readonly string[]): Promise<MetricRow[]> {
  const text = `SELECT ${columns} FROM metrics WHERE name = ANY($1::text[])`
  return (await database.query<MetricRow>(text, [names])).rows
}

export async function readMetricsNumbered(database: Database, ids: readonly number[]): Promise<MetricRow[]> {
  const text = `SELECT ${columns} FROM metrics WHERE id = ANY($1::int[])`
  return (await database.query<MetricRow>(text, [ids])).rows
}

/** Returns the names that are not metrics. The others are locked against removal until the end of the transaction. */
export async function lockMetricsNamed(transaction: Transaction, names: readonly string[]): Promise<string[]> {
  const text = 'SELECT name FROM metrics WHERE name = ANY($1::text[]) ORDER BY id FOR KEY SHARE'
  const { rows } = await transaction.query<{ name: string }>(text, [names])
  const known = new Set(rows.map(({ name }) => name))
  return names.filter(name => !known.has(name))
}

// An arbitrary fixed number: "barometr" in ASCII.
export const metricsLock = '7089073111360173170'

/** Blocks other nodes' changes until the end of the transaction. Taken before the rows, against deadlocks. */
export async function lockMetrics(transaction: Transaction): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [metricsLock])
}

/** Blocks additions by other nodes until the end of the transaction, so that the count stays valid. */
export async function countMetrics(transaction: Transaction): Promise<number> {
  await lockMetrics(transaction)
  const { rows } = await transaction.query<{ count: number }>('SELECT count(*)::int AS count FROM metrics')
  return rows[0]?.count ?? 0
}

/**
 * Counts metrics by the account whose devices made them. Valid until the end of the transaction, like `countMetrics`.
 */
export async function countOwned(transaction: Transaction): Promise<Map<number, number>> {
  const text = 'SELECT owner, count(*)::int AS count FROM metrics WHERE owner IS NOT NULL GROUP BY owner'
  const { rows } = await transaction.query<{ owner: number; count: number }>(text)
  return new Map(rows.map(({ owner, count }) => [owner, count]))
}

/** Metrics without a position are last. */
export type MetricFields = Omit<MetricRow, 'id' | 'built_in' | 'position' | 'version'> & { position: number | null }

/** Inserts metrics whose names are free, with an audit row each. */
export async function insertMetrics(
  transaction: Transaction,
  metrics: readonly MetricFields[],
  by: readonly string[],
): Promise<MetricRow[]> {
  const { rows } = await transaction.query<MetricRow>(
    `WITH given AS (
      SELECT * FROM jsonb_populate_recordset(NULL::metrics, $1::jsonb) WITH ORDINALITY
    ), added AS (
      INSERT INTO metrics (name, title, unit, kind, decimals, min, max, quality, color, position, owner)
      SELECT name, title, unit, kind, decimals, min, max, quality, color,
        coalesce(position, least((SELECT coalesce(max(m.position), 0) FROM metrics m) + ordinality, 1000000)), owner
      FROM given ORDER BY ordinality
      ON CONFLICT (name) DO NOTHING
      RETURNING ${columns}
    ), audited AS (
      INSERT INTO audit (actor, action, subject, details)
      SELECT ($2::text[])[ordinality], 'metric.add', 'metric ' || given.name,
        jsonb_strip_nulls(jsonb_build_object('unit', given.unit, 'kind', given.kind))
      FROM added JOIN given USING (name) ORDER BY ordinality
    )
    SELECT * FROM added ORDER BY id`,
    [rowsAsJson(metrics), by],
  )
  return rows
}

const changeable = Object.keys(MetricChange.shape)

/** Undefined for a removed metric. */
export async function updateMetric(
  transaction: Transaction,
  id: number,
  change: MetricChange,
): Promise<MetricRow | undefined> {
  const { set, values } = assignments(changeable, change, 2)
  const { rows } = await transaction.query<MetricRow>(
    `UPDATE metrics SET ${set.join(', ')}, version = version + 1 WHERE id = $1 RETURNING ${columns}`,
    [id, ...values],
  )
  return rows[0]
}

/** Locks the metric until the end of the transaction, so that no device can list it. */
export async function lockMetric(transaction: Transaction, id: number): Promise<boolean> {
  return (await transaction.query('SELECT FROM metrics WHERE id = $1 FOR UPDATE', [id])).rowCount !== 0
}

/** True if it has series, or a device lists it. */
export async function isMetricUsed(transaction: Transaction, { id, name }: Metric): Promise<boolean> {
  const { rows } = await transaction.query<{ used: boolean }>(
    `SELECT EXISTS (SELECT FROM metric_series WHERE metric = $1)
       OR EXISTS (SELECT FROM devices WHERE removed_at IS NULL AND $2 = ANY(metrics)) AS used`,
    [id, name],
  )
  return rows[0]?.used ?? true
}

export async function deleteMetric(transaction: Transaction, id: number): Promise<void> {
  await transaction.query('DELETE FROM metrics WHERE id = $1', [id])
}

/** Returns the former number; undefined without a series. Waits for transactions that make series. */
export async function deleteSeries(
  transaction: Transaction,
  { device, metric }: Pick<SeriesRow, 'device' | 'metric'>,
): Promise<number | undefined> {
  await transaction.query('SELECT FROM devices WHERE number = $1 FOR NO KEY UPDATE', [device])
  const text = 'DELETE FROM metric_series WHERE device = $1 AND metric = $2 RETURNING number'
  return (await transaction.query<{ number: number }>(text, [device, metric])).rows[0]?.number
}

/** Returns the numbers that exist. */
export async function readSeriesNumbers(database: Database, numbers: readonly number[]): Promise<number[]> {
  const text = 'SELECT number FROM metric_series WHERE number = ANY($1::int[])'
  return (await database.query<{ number: number }>(text, [numbers])).rows.map(({ number }) => number)
}

/**
 * Transactions that make series hold this lock until they commit. So numbers become visible in order, and a reader of
 * rows above its highest number misses none. An arbitrary fixed number: "baroseri" in ASCII.
 */
const seriesLock = '7089073111460835945'

/** Device and metric of a series. */
export interface NamedSeries {
  number: number
  /** Symbol of the device in QuestDB. */
  symbol: string
  /** The name of the metric. */
  metric: string
}

/** Series after this number, in order, without removed devices. */
export async function readNamedSeries(database: Database, after: number, rowsMax: number): Promise<NamedSeries[]> {
  const text = `SELECT s.number, devices.symbol, metrics.name AS metric FROM metric_series s
    JOIN devices ON devices.number = s.device JOIN metrics ON metrics.id = s.metric
    WHERE s.number > $1 AND devices.removed_at IS NULL ORDER BY s.number LIMIT $2`
  return (await database.query<NamedSeries>(text, [after, rowsMax])).rows
}

/** Upper bound of all series numbers, including removed ones. */
export async function readSeriesGiven(database: Database): Promise<number> {
  const text = `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('metric_series', 'number')::regclass), 0)::float8 AS number`
  return (await database.query<{ number: number }>(text)).rows[0]?.number ?? 0
}

export async function readSeriesOf(database: Database, devices: readonly number[]): Promise<SeriesRow[]> {
  const text = 'SELECT number, device, metric FROM metric_series WHERE device = ANY($1::int[]) ORDER BY number'
  return (await database.query<SeriesRow>(text, [devices])).rows
}

export async function readSeriesAfter(database: Database, number: number, rowsMax: number): Promise<SeriesRow[]> {
  const text = 'SELECT number, device, metric FROM metric_series WHERE number > $1 ORDER BY number LIMIT $2'
  // Rows as arrays: objects with repeated keys take twice the time and memory at the start.
  const { rows } = await database.query<[number, number, number]>({
    text,
    values: [number, rowsMax],
    rowMode: 'array',
  })
  return rows.map(([number, device, metric]) => ({ number, device, metric }))
}

/** Makes missing series in the given order, up to `perDeviceMax` for a device. Returns others' series, too. */
export async function insertSeries(
  transaction: Transaction,
  wanted: readonly Pick<SeriesRow, 'device' | 'metric'>[],
  perDeviceMax: number,
): Promise<SeriesRow[]> {
  const values = [wanted.map(({ device }) => device), wanted.map(({ metric }) => metric)]
  // Locked in a fixed order, which avoids deadlocks. The locks keep the counts valid.
  const lock = `WITH locked AS MATERIALIZED (
      SELECT FROM devices WHERE number = ANY($1::int[]) ORDER BY number FOR NO KEY UPDATE
    ) SELECT pg_advisory_xact_lock($2::bigint) FROM (SELECT count(*) FROM locked) AS all_of_them`
  await transaction.query(lock, [values[0], seriesLock])
  await transaction.query(
    `INSERT INTO metric_series (device, metric)
     SELECT device, metric FROM (
       SELECT given.device, given.metric, place, row_number() OVER (PARTITION BY given.device ORDER BY place) +
         (SELECT count(*) FROM metric_series s WHERE s.device = given.device) AS rank
       FROM unnest($1::int[], $2::int[]) WITH ORDINALITY AS given (device, metric, place)
       JOIN devices ON devices.number = given.device JOIN metrics ON metrics.id = given.metric
       WHERE NOT EXISTS (SELECT FROM metric_series s WHERE s.device = given.device AND s.metric = given.metric)
     ) AS missing
     WHERE rank <= $3 ORDER BY place
     ON CONFLICT (device, metric) DO NOTHING`,
    [...values, perDeviceMax],
  )
  const { rows } = await transaction.query<SeriesRow>(
    `SELECT number, device, metric FROM metric_series
     WHERE (device, metric) IN (SELECT * FROM unnest($1::int[], $2::int[])) ORDER BY number`,
    values,
  )
  return rows
}

const decimalsUsual = 2

export function metricFields({ name, ...given }: NewMetric): MetricFields {
  const entry = catalogueEntry(name)
  const usual = {
    title: entry?.title ?? titleOfName(name),
    unit: entry?.unit ?? null,
    kind: entry?.kind ?? ('gauge' as const),
    decimals: entry?.decimals ?? decimalsUsual,
    quality: null,
    color: null,
    position: null,
    owner: null,
  }
  const isUnitOfEntry = given.unit === undefined || given.unit === usual.unit
  const range = isUnitOfEntry ? { min: entry?.min ?? null, max: entry?.max ?? null } : { min: null, max: null }
  return { name, ...usual, ...range, ...withoutUndefined(given) }
}

function withoutUndefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
