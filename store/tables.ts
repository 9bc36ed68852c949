/** The tables in QuestDB: their names, their columns and the text that makes them. */

import { confirmedIncreaseSql, ownIncreaseSql } from './counter-sql.ts'

export const readingsTable = 'readings'

/** What a logger measures, in column order: °C, %, hPa, V, %. */
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
 * Values of readings for which there is no column. `series` is the number of a device's metric in PostgreSQL's registry. A
 * row without a value says that a reading which replaced another one has none.
 */
export const measurementsTableSql = `CREATE TABLE IF NOT EXISTS ${measurementsTable} (
  ts TIMESTAMP,
  series INT,
  value DOUBLE
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, series)`

export const pointsTable = 'points'

/** Alphabetically, so that their positions sort as their names do. */
export const pointUnits = ['ppb', 'ppm', 'ugm3'] as const

/**
 * Points of the air-quality network. `series` is the number of a station's parameter in PostgreSQL's registry, and is below
 * 2^21, so that the id of a point follows from its row. An integer sorts as the ids do; a symbol would sort as text.
 */
export const pointsTableSql = `CREATE TABLE IF NOT EXISTS ${pointsTable} (
  ts TIMESTAMP,
  series INT,
  value DOUBLE,
  unit SYMBOL CAPACITY 256 CACHE,
  stored_at TIMESTAMP
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, series)`

/** What is kept of each metric for every hour. `std` is the sample's. */
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
 * The hours of days whose raw readings have expired, which no view of the readings could be made of again. Counts are null
 * where a device was erased.
 */
export const expiredHoursTable = 'readings_hours'
export const expiredHoursTableSql = `CREATE TABLE IF NOT EXISTS ${expiredHoursTable} (
  ts TIMESTAMP,
  device SYMBOL CAPACITY 131072 CACHE,
  ${hourlyColumns.map(({ name, aggregate }) => `${name} ${aggregate === 'count' ? 'LONG' : 'DOUBLE'}`).join(',\n  ')}
) TIMESTAMP(ts) PARTITION BY MONTH WAL DEDUP UPSERT KEYS(ts, device)`

/** The days that have expired, each with its raw readings and its hours: from then on those hours are the ones that count. */
export const expiredDaysTable = 'readings_expired'
export const expiredDaysTableSql = daysTableSql(expiredDaysTable)

/**
 * What is kept of a series for each of its expired hours. Values of kinds that have no mean are between `first` and `last`;
 * `sine` and `cosine` are means of unit vectors, of values in degrees. `increase` is that of a total from value to value
 * within the hour, by the rule of `counter-sql.ts`; `place` counts the values of the hour from 1.
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

/** The same as `readings_hours`, of values without a column: a view of them is not kept before they expire. */
export const expiredSeriesHoursTable = 'measurements_hours'
export const expiredSeriesHoursTableSql = `CREATE TABLE IF NOT EXISTS ${expiredSeriesHoursTable} (
  ts TIMESTAMP,
  series INT,
  ${seriesHourColumns.map(({ name, type }) => `${name} ${type}`).join(',\n  ')}
) TIMESTAMP(ts) PARTITION BY MONTH WAL DEDUP UPSERT KEYS(ts, series)`

/**
 * The days whose values without a column, counted in `readings`, have their hours in `measurements_hours`, or that had none of
 * them when they expired. Which days have expired, `readings_expired` alone says.
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

/** Rows of archived days that were restored, for who reads QuestDB itself; they are erased as all others are. */
export const restoredReadingsTable = 'readings_restored'
export const restoredReadingsTableSql = readingsTableSql.replace(readingsTable, restoredReadingsTable)
export const restoredMeasurementsTable = 'measurements_restored'
export const restoredMeasurementsTableSql = measurementsTableSql.replace(measurementsTable, restoredMeasurementsTable)

/**
 * Up to where each journal is applied, a row an hour: a copy of this QuestDB says how old it is. The transactions are those of the
 * journal's tables, so that a copy of which a table is older says that, too. A journal's last row holds.
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

/** Every hour (in UTC) of every device, kept by QuestDB as a materialized view. */
export const hourlyView = 'readings_1h'
export const hourlyViewQuery = `SELECT ts, device, ${hourlyColumns.map(({ sql }) => sql).join(', ')} FROM ${readingsTable} SAMPLE BY 1h`
/** QuestDB's own timers for views have been seen to stop, so this one is refreshed when we say so. */
export const hourlyViewSql = `CREATE MATERIALIZED VIEW ${hourlyView} WITH BASE ${readingsTable} REFRESH MANUAL AS (${hourlyViewQuery}) PARTITION BY MONTH`

/**
 * The names of the devices, for who reads QuestDB itself. The time of a row stands for the number of its device, so that a
 * change of one rewrites a small partition and not all names. `seq` is that of the change in PostgreSQL's registry.
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

/** QuestDB puts conditions on time and device before the join; a condition on the name comes behind it. */
export const namedReadingsView = 'readings_named'
export const namedReadingsViewQuery = `SELECT r.ts, r.device, n.name, n.location_short, ${metrics.map(metric => `r.${metric}`).join(', ')} FROM ${readingsTable} r LEFT JOIN ${deviceNamesTable} n ON r.device = n.device`

/**
 * Which device and which metric a series of `measurements` is of, for who reads QuestDB itself. The time of a row stands for
 * the number of the series. Both never change; a series whose values were erased has no metric.
 */
export const seriesNamesTable = 'series_names'
export const seriesNamesTableSql = `CREATE TABLE IF NOT EXISTS ${seriesNamesTable} (
  ts TIMESTAMP,
  series INT,
  device SYMBOL CAPACITY 131072 CACHE,
  metric SYMBOL CAPACITY 16384 CACHE
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, series)`
export const usPerSeriesNumber = 1_000_000

/** QuestDB puts conditions on time, device and metric before the join; one on the name comes behind it. */
export const namedMeasurementsView = 'measurements_named'
export const namedMeasurementsViewQuery = `SELECT m.ts, s.device, n.name, n.location_short, s.metric, m.value FROM ${measurementsTable} m JOIN ${seriesNamesTable} s ON m.series = s.series LEFT JOIN ${deviceNamesTable} n ON s.device = n.device WHERE m.value IS NOT NULL`

/** What the service tells of itself every ten seconds, and what a step of several rows shows. */
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
/** Of several nodes, the host of the one that a row is of. */
export const selfMonitoringNodeSql = `ALTER TABLE ${selfMonitoringTable} ADD COLUMN IF NOT EXISTS node SYMBOL`
export const selfMonitoringTableSql = `CREATE TABLE IF NOT EXISTS ${selfMonitoringTable} (
  ts TIMESTAMP,
  ${selfMonitoringColumns.map(({ name }) => `${name} DOUBLE`).join(',\n  ')}
) TIMESTAMP(ts) PARTITION BY DAY TTL 30 DAYS WAL`
