/** Creates our tables in QuestDB and verifies existing ones. */

import {
  appliedPositionsTable,
  appliedPositionsTableSql,
  deviceNamesTable,
  deviceNamesTableSql,
  expiredDaysTable,
  expiredDaysTableSql,
  expiredHoursTable,
  expiredHoursTableSql,
  expiredSeriesDaysTable,
  expiredSeriesDaysTableSql,
  expiredSeriesHoursTable,
  expiredSeriesHoursTableSql,
  hourlyColumns,
  measurementsTable,
  measurementsTableSql,
  metrics,
  namedMeasurementsView,
  namedMeasurementsViewQuery,
  namedReadingsView,
  namedReadingsViewQuery,
  pointsTable,
  pointsTableSql,
  readingsTable,
  readingsTableSql,
  restoredMeasurementsTable,
  restoredMeasurementsTableSql,
  restoredReadingsTable,
  restoredReadingsTableSql,
  seriesHourColumns,
  seriesNamesTable,
  seriesNamesTableSql,
} from '../tables.ts'
import type { QuestdbClient } from './client/questdb-client.ts'
import { QuestdbError } from './client/questdb-error.ts'

const timeoutMs = 10_000

/** Type, designated timestamp and upsert key of each column. */
type Columns = Readonly<Record<string, string>>

const readingsColumns: Columns = {
  ts: 'TIMESTAMP true true',
  device: 'SYMBOL false true',
  ...Object.fromEntries(metrics.map(metric => [metric, 'DOUBLE false false'])),
}

const measurementsColumns: Columns = {
  ts: 'TIMESTAMP true true',
  series: 'INT false true',
  value: 'DOUBLE false false',
}

const pointsColumns: Columns = {
  ts: 'TIMESTAMP true true',
  series: 'INT false true',
  value: 'DOUBLE false false',
  unit: 'SYMBOL false false',
  stored_at: 'TIMESTAMP false false',
}

const appliedPositionsColumns: Columns = {
  ts: 'TIMESTAMP true true',
  journal: 'SYMBOL false true',
  position: 'LONG false false',
  whole_from: 'LONG false false',
  recorded_at: 'TIMESTAMP false false',
  rows_txn: 'LONG false false',
  further_txn: 'LONG false false',
}

const expiredHoursColumns: Columns = {
  ts: 'TIMESTAMP true true',
  device: 'SYMBOL false true',
  ...Object.fromEntries(
    hourlyColumns.map(({ name, aggregate }) => [name, `${aggregate === 'count' ? 'LONG' : 'DOUBLE'} false false`]),
  ),
}

const expiredDaysColumns: Columns = {
  ts: 'TIMESTAMP true true',
  readings: 'LONG false false',
  hours: 'LONG false false',
}

const expiredSeriesHoursColumns: Columns = {
  ts: 'TIMESTAMP true true',
  series: 'INT false true',
  ...Object.fromEntries(seriesHourColumns.map(({ name, type }) => [name, `${type} false false`])),
}

const deviceNamesColumns: Columns = {
  ts: 'TIMESTAMP true true',
  device: 'SYMBOL false true',
  name: 'VARCHAR false false',
  location_short: 'VARCHAR false false',
  seq: 'LONG false false',
}

const seriesNamesColumns: Columns = {
  ts: 'TIMESTAMP true true',
  series: 'INT false true',
  device: 'SYMBOL false false',
  metric: 'SYMBOL false false',
}

/** Throws a sentence when a table has our name but another schema. */
export async function ensureTables(client: QuestdbClient): Promise<void> {
  await ensureTable(client, readingsTable, readingsTableSql, readingsColumns)
  await ensureTable(client, measurementsTable, measurementsTableSql, measurementsColumns)
  await ensureTable(client, pointsTable, pointsTableSql, pointsColumns)
  await ensureTable(client, appliedPositionsTable, appliedPositionsTableSql, appliedPositionsColumns)
}

/** Creates the tables for expired readings. */
export async function ensureExpiryTables(client: Pick<QuestdbClient, 'exec'>): Promise<void> {
  await ensureTable(client, expiredHoursTable, expiredHoursTableSql, expiredHoursColumns)
  await ensureTable(client, expiredDaysTable, expiredDaysTableSql, expiredDaysColumns)
  await ensureTable(client, expiredSeriesHoursTable, expiredSeriesHoursTableSql, expiredSeriesHoursColumns)
  await ensureTable(client, expiredSeriesDaysTable, expiredSeriesDaysTableSql, expiredDaysColumns)
}

export async function ensureRestoredTables(client: Pick<QuestdbClient, 'exec'>): Promise<void> {
  await ensureTable(client, restoredReadingsTable, restoredReadingsTableSql, readingsColumns)
  await ensureTable(client, restoredMeasurementsTable, restoredMeasurementsTableSql, measurementsColumns)
}

/** Includes the view that joins the names with the readings. */
export async function ensureDeviceNames(client: Pick<QuestdbClient, 'exec'>): Promise<void> {
  await ensureTable(client, deviceNamesTable, deviceNamesTableSql, deviceNamesColumns)
  await ensureView(client, namedReadingsView, namedReadingsViewQuery)
}

/** Includes the view that joins the names with the values. */
export async function ensureSeriesNames(client: Pick<QuestdbClient, 'exec'>): Promise<void> {
  await ensureTable(client, deviceNamesTable, deviceNamesTableSql, deviceNamesColumns)
  await ensureTable(client, seriesNamesTable, seriesNamesTableSql, seriesNamesColumns)
  await ensureView(client, namedMeasurementsView, namedMeasurementsViewQuery)
}

async function ensureView(client: Pick<QuestdbClient, 'exec'>, view: string, query: string): Promise<void> {
  try {
    const [found] = await client.exec(`SELECT view_sql FROM views() WHERE view_name = '${view}'`, timeoutMs)
    if (found?.[0] === query) return
    await client.exec(`CREATE OR REPLACE VIEW ${view} AS (${query})`, timeoutMs)
  } catch (error) {
    // An older QuestDB does not support views.
    if (!(error instanceof QuestdbError && error.code === 'REFUSED')) throw error
  }
}

async function ensureTable(
  client: Pick<QuestdbClient, 'exec'>,
  table: string,
  createSql: string,
  columns: Columns,
): Promise<void> {
  await client.exec(createSql, timeoutMs)
  const sql = `SELECT "column", type, designated, upsertKey FROM table_columns('${table}')`
  const found = new Map((await client.exec(sql, timeoutMs)).map(([name, ...rest]) => [String(name), rest.join(' ')]))
  for (const [name, wanted] of Object.entries(columns)) {
    const is = found.get(name) ?? 'missing'
    // Without the upsert keys a record that is sent twice would be stored twice.
    if (is !== wanted) {
      throw new Error(
        `its table ${table} is not ours: the column ${name} is "${is}" where "${wanted}" is needed ` +
          '(type, designated timestamp, upsert key); rename that table, or give another QuestDB',
      )
    }
  }
}
