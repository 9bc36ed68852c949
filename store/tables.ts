/** The tables in QuestDB: names, columns and statements that create them. */

import { confirmedIncreaseSql, ownIncreaseSql } from './counter-sql.ts'

export const readingsTable = 'readings'

/** Measurements of a logger, in column order: °C, %, hPa, V, %. */
export const metrics = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage'] as const
export type Metric = (typeof metrics)[number]

/**
 * No index on `device`: it costs three times the disk and a quarter of the ingest rate, and saves 3 ms on a warm read.
 * The capacity is set near a large fleet's size, because growing it while devices are first seen stalls the apply.
 */
export const readingsTableSql = `CREATE TABLE IF NOT EXISTS ${readingsTable} (
  ts TIMESTAMP,
  device SYMBOL CAPACITY 131072 CACHE,
  ${metrics.map(metric => `${metric} DOUBLE`).join(',\n  ')}
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, device)`

export const measurementsTable = 'measurements'

/**
 * Values of readings without a column. `series` is the number of a device's metric in PostgreSQL's registry. A row without a value
 * marks a replacement reading that lacks one.
 */
export const measurementsTableSql = `CREATE TABLE IF NOT EXISTS ${measurementsTable} (
  ts TIMESTAMP,
  series INT,
  value DOUBLE
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, series)`

export const pointsTable = 'points'

/** Alphabetical, so that positions sort like names. */
export const pointUnits = ['ppb', 'ppm', 'ugm3'] as const

/**
 * Points of the air-quality network. `series` is the number of a station's parameter in PostgreSQL's registry, and is
 * below 2^21, so that the id of a point follows from its row. An integer sorts as the ids do. A symbol would sort as
 * text.
 */
export const pointsTableSql = `CREATE TABLE IF NOT EXISTS ${pointsTable} (
  ts TIMESTAMP,
  series INT,
  value DOUBLE,
  unit SYMBOL CAPACITY 256 CACHE,
  stored_at TIMESTAMP
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, series)`

/** Hourly aggregates of each metric. `std` is the sample's. */
export const hourlyAggregates = ['count', 'mean', 'std', 'min', 'max'] as const
type HourlyAggregate = (typeof hourlyAggregates)[number]
const functionOf: Record<HourlyAggregate, string> = {
  count: 'count',
  mean: 'avg',
  std: 'stddev_samp',
  min: 'min',
  max: 'max',
}

export const hourlyColumns = metrics.flatMap(metric =>
  hourlyAggregates.map(aggregate => {
    const name = `${metric}_${aggregate}`
    return { metric, aggregate, name, sql: `${functionOf[aggregate]}(${metric}) ${name}` }
  }),
)

/**
 * Hours of days whose raw readings have expired, so that a view cannot recompute them. Counts are null where a device was erased.
 */
export const expiredHoursTable = 'readings_hours'
export const expiredHoursTableSql = `CREATE TABLE IF NOT EXISTS ${expiredHoursTable} (
  ts TIMESTAMP,
  device SYMBOL CAPACITY 131072 CACHE,
  ${hourlyColumns.map(({ name, aggregate }) => `${name} ${aggregate === 'count' ? 'LONG' : 'DOUBLE'}`).join(',\n  ')}
) TIMESTAMP(ts) PARTITION BY MONTH WAL DEDUP UPSERT KEYS(ts, device)`

/** Expired days, each with its raw readings and its hours: from then on those hours count. */
export const expiredDaysTable = 'readings_expired'
export const expiredDaysTableSql = daysTableSql(expiredDaysTable)

/**
 * Columns kept for each expired hour of a series. Kinds without a mean have their values between `first` and `last`. `sine` and
 * `cosine` are means of unit vectors, for values in degrees. `increase` is the total's increase within the hour, by the rule of
 * `counter-sql.ts`. `place` counts the values of the hour from 1.
 */
export const seriesHourColumns = [
  { name: 'count', type: 'LONG', sql: 'count(value)' },
  { name: 'mean', type: 'DOUBLE', sql: 'avg(value)' },
  { name: 'std', type: 'DOUBLE', sql: 'stddev_samp(value)' },
  { name: 'min', type: 'DOUBLE', sql: 'min(value)' },
  { name: 'max', type: 'DOUBLE', sql: 'max(value)' },
  { name: 'first', type: 'DOUBLE', sql: 'first(value)' },
  { name: 'first_ts', type: 'TIMESTAMP', sql: 'min(ts)' },
  { name: 'last', type: 'DOUBLE', sql: 'last(value)' },
  { name: 'last_ts', type: 'TIMESTAMP', sql: 'max(ts)' },
  { name: 'sine', type: 'DOUBLE', sql: 'avg(sin(radians(value)))' },
  { name: 'cosine', type: 'DOUBLE', sql: 'avg(cos(radians(value)))' },
  {
    name: 'increase',
    type: 'DOUBLE',
    sql: `sum(CASE WHEN place = 1 THEN 0.0 WHEN place = 2 THEN ${ownIncreaseSql} ELSE ${ownIncreaseSql} + ${confirmedIncreaseSql} END)`,
  },
] as const
export type SeriesHourColumn = (typeof seriesHourColumns)[number]['name']

/** The table resembles `readings_hours`, for values without a column. No view of them is kept before they expire. */
export const expiredSeriesHoursTable = 'measurements_hours'
export const expiredSeriesHoursTableSql = `CREATE TABLE IF NOT EXISTS ${expiredSeriesHoursTable} (
  ts TIMESTAMP,
  series INT,
  ${seriesHourColumns.map(({ name, type }) => `${name} ${type}`).join(',\n  ')}
) TIMESTAMP(ts) PARTITION BY MONTH WAL DEDUP UPSERT KEYS(ts, series)`

/**
 * Days whose values without a column, counted in `readings`, have their hours in `measurements_hours`, and days that had no such
 * values when they expired. Only `readings_expired` lists the expired days.
 */
export const expiredSeriesDaysTable = 'measurements_expired'
export const expiredSeriesDaysTableSql = daysTableSql(expiredSeriesDaysTable)

function daysTableSql(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
  ts TIMESTAMP,
  readings LONG,
  hours LONG
) TIMESTAMP(ts) PARTITION BY YEAR WAL DEDUP UPSERT KEYS(ts)`
}

/** Restored rows of archived days, for users of QuestDB itself. Erasure covers them like all others. */
export const restoredReadingsTable = 'readings_restored'
export const restoredReadingsTableSql = readingsTableSql.replace(readingsTable, restoredReadingsTable)
export const restoredMeasurementsTable = 'measurements_restored'
export const restoredMeasurementsTableSql = measurementsTableSql.replace(measurementsTable, restoredMeasurementsTable)

/**
 * Position up to which each journal is applied, one row an hour, so that a copy of this QuestDB shows its age. The transactions
 * belong to the journal's tables and reveal a copy with an older table. The last row of a journal counts.
 */
export const appliedPositionsTable = 'applied_positions'
export const appliedPositionsTableSql = `CREATE TABLE IF NOT EXISTS ${appliedPositionsTable} (
  ts TIMESTAMP,
  journal SYMBOL,
  position LONG,
  whole_from LONG,
  recorded_at TIMESTAMP,
  rows_txn LONG,
  further_txn LONG
) TIMESTAMP(ts) PARTITION BY MONTH WAL DEDUP UPSERT KEYS(ts, journal)`

/** Every hour (in UTC) of every device, as a materialized view of QuestDB. */
export const hourlyView = 'readings_1h'
export const hourlyViewQuery = `SELECT ts, device, ${hourlyColumns.map(({ sql }) => sql).join(', ')} FROM ${readingsTable} SAMPLE BY 1h`
/** QuestDB's own refresh timers have been seen to stop, so the service refreshes this view. */
export const hourlyViewSql = `CREATE MATERIALIZED VIEW ${hourlyView} WITH BASE ${readingsTable} REFRESH MANUAL AS (${hourlyViewQuery}) PARTITION BY MONTH`

/**
 * Device names, for users of QuestDB itself. A row's time encodes the device's number, so that a change rewrites one small
 * partition. `seq` is the change's number in PostgreSQL's registry.
 */
export const deviceNamesTable = 'device_names'
export const deviceNamesTableSql = `CREATE TABLE IF NOT EXISTS ${deviceNamesTable} (
  ts TIMESTAMP,
  device SYMBOL CAPACITY 131072 CACHE,
  name VARCHAR,
  location_short VARCHAR,
  seq LONG
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, device)`
export const usPerDeviceNumber = 10_000_000

/** QuestDB applies conditions on time and device before the join; a condition on the name after it. */
export const namedReadingsView = 'readings_named'
export const namedReadingsViewQuery = `SELECT r.ts, r.device, n.name, n.location_short, ${metrics.map(metric => `r.${metric}`).join(', ')} FROM ${readingsTable} r LEFT JOIN ${deviceNamesTable} n ON r.device = n.device`

/**
 * Device and metric of each series of `measurements`, for users of QuestDB itself. A row's time encodes the number of
 * the series. Both never change. A series with erased values has no metric.
 */
export const seriesNamesTable = 'series_names'
export const seriesNamesTableSql = `CREATE TABLE IF NOT EXISTS ${seriesNamesTable} (
  ts TIMESTAMP,
  series INT,
  device SYMBOL CAPACITY 131072 CACHE,
  metric SYMBOL CAPACITY 16384 CACHE
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, series)`
export const usPerSeriesNumber = 1_000_000

/** QuestDB applies conditions on time, device and metric before the join; a condition on the name after it. */
export const namedMeasurementsView = 'measurements_named'
export const namedMeasurementsViewQuery = `SELECT m.ts, s.device, n.name, n.location_short, s.metric, m.value FROM ${measurementsTable} m JOIN ${seriesNamesTable} s ON m.series = s.series LEFT JOIN ${deviceNamesTable} n ON s.device = n.device WHERE m.value IS NOT NULL`

/** The service's measurements of itself, every ten seconds, and the aggregate shown for a step of several rows. */
export const selfMonitoringColumns = [
  { name: 'ack_p50_ms', over: 'max' },
  { name: 'ack_p99_ms', over: 'max' },
  { name: 'stored', over: 'sum' },
  { name: 'rejected', over: 'sum' },
  { name: 'lag_readings', over: 'max' },
  { name: 'lag_seconds', over: 'max' },
  { name: 'journal_bytes', over: 'max' },
  { name: 'rss_bytes', over: 'max' },
  { name: 'event_loop_p99_ms', over: 'max' },
] as const
export type SelfMonitoringColumn = (typeof selfMonitoringColumns)[number]['name']
export const selfMonitoringTable = 'barograph_service'
/** Host of the node that wrote the row, where there are several nodes. */
export const selfMonitoringNodeSql = `ALTER TABLE ${selfMonitoringTable} ADD COLUMN IF NOT EXISTS node SYMBOL`
export const selfMonitoringTableSql = `CREATE TABLE IF NOT EXISTS ${selfMonitoringTable} (
  ts TIMESTAMP,
  ${selfMonitoringColumns.map(({ name }) => `${name} DOUBLE`).join(',\n  ')}
) TIMESTAMP(ts) PARTITION BY DAY TTL 30 DAYS WAL`
