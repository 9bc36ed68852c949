/** The tables in QuestDB: their names, their columns and the text that makes them. */

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
export const expiredDaysTableSql = `CREATE TABLE IF NOT EXISTS ${expiredDaysTable} (
  ts TIMESTAMP,
  readings LONG,
  hours LONG
) TIMESTAMP(ts) PARTITION BY YEAR WAL DEDUP UPSERT KEYS(ts)`

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
export const selfMonitoringTableSql = `CREATE TABLE IF NOT EXISTS ${selfMonitoringTable} (
  ts TIMESTAMP,
  ${selfMonitoringColumns.map(({ name }) => `${name} DOUBLE`).join(',\n  ')}
) TIMESTAMP(ts) PARTITION BY DAY TTL 30 DAYS WAL`
