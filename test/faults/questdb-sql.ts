/** Statements that bypass the service, and the rows stored in QuestDB. */

import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import {
  expiredHoursTable,
  hourlyColumns,
  hourlyView,
  measurementsTable,
  metrics,
  pointsTable,
  readingsTable,
} from '../../store/tables.ts'
import { until } from '../support/processes.ts'
import { columns } from './identity.ts'
import type { StoredRow } from './oracle.ts'

export type QuestdbSql = (statement: string) => Promise<unknown[][]>

const timeoutMs = 300_000
const symbolsPerQuestion = 50

export function openQuestdbSql({ http }: QuestdbAddress): QuestdbSql {
  return async statement => {
    const url = `http://${http.host}:${http.port}/exec?query=${encodeURIComponent(statement)}`
    const headers = http.authorization === undefined ? {} : { authorization: http.authorization }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) })
    const answer = (await response.json()) as { dataset?: unknown[][]; ddl?: string }
    if (!response.ok) throw new Error(`QuestDB answered ${response.status} to ${statement}: ${JSON.stringify(answer)}`)
    return answer.dataset ?? []
  }
}

export async function untilApplied(sql: QuestdbSql): Promise<void> {
  const names = [readingsTable, measurementsTable, pointsTable].map(name => `'${name}'`).join(', ')
  const statement = `SELECT count() FROM wal_tables() WHERE name IN (${names}) AND writerTxn < sequencerTxn`
  await until('QuestDB has applied all', async () => (await sql(statement))[0]?.[0] === 0)
}

/** Readings sorted by time. `names` maps symbols to devices. */
export async function readStored(sql: QuestdbSql, names: ReadonlyMap<string, string>): Promise<StoredRow[]> {
  let rows: StoredRow[] = []
  const symbols = [...names.keys()]
  for (let from = 0; from < symbols.length; from += symbolsPerQuestion) {
    const some = symbols.slice(from, from + symbolsPerQuestion)
    rows = rows.concat(await readDevices(sql, readingsTable, some, names, columns))
  }
  return rows
}

/** Hours of the view with readings of these devices, by their means. */
export async function readHours(sql: QuestdbSql, names: ReadonlyMap<string, string>): Promise<StoredRow[]> {
  const [view] = await sql(`SELECT table_name FROM tables() WHERE table_name = '${hourlyView}'`)
  if (names.size === 0 || view === undefined) return []
  const means = ['temperature', 'humidity', 'pressure'].map(name => `${name}_mean AS ${name}`)
  return await readDevices(sql, hourlyView, [...names.keys()], names, means)
}

async function readDevices(
  sql: QuestdbSql,
  table: string,
  symbols: readonly string[],
  names: ReadonlyMap<string, string>,
  columns: readonly string[],
): Promise<StoredRow[]> {
  const list = symbols.map(symbol => `'${symbol}'`).join(', ')
  const chosen = `device, cast(ts AS LONG), ${columns.join(', ')}`
  const rows = await sql(`SELECT ${chosen} FROM ${table} WHERE device IN (${list}) ORDER BY ts`)
  return rows.map(([symbol, time, ...values]) => ({
    device: names.get(String(symbol)) ?? String(symbol),
    timeUs: Number(time),
    values: Object.fromEntries(columns.map((column, at) => [column.replace(/.* AS /, ''), numberOf(values[at])])),
  }))
}

/** Points of series sorted by time. `names` maps series numbers to station and parameter. */
export async function readStoredPoints(sql: QuestdbSql, names: ReadonlyMap<number, string>): Promise<StoredRow[]> {
  if (names.size === 0) return []
  const columns = 'series, cast(ts AS LONG), value, unit'
  const numbers = [...names.keys()].join(', ')
  const rows = await sql(`SELECT ${columns} FROM ${pointsTable} WHERE series IN (${numbers}) ORDER BY ts`)
  return rows.map(([series, time, value, unit]) => ({
    device: names.get(Number(series)) ?? String(series),
    timeUs: Number(time),
    values: { value: numberOf(value), unit: typeof unit === 'string' ? unit : '' },
  }))
}

interface ComparedTable {
  name: string
  keys: string
  /** Columns whose values do not depend on the order of computation. */
  columns: readonly string[]
}

const comparedTables: readonly ComparedTable[] = [
  { name: readingsTable, keys: 'ts, device', columns: metrics },
  { name: measurementsTable, keys: 'ts, series', columns: ['value'] },
  { name: pointsTable, keys: 'ts, series', columns: ['value', 'unit', 'stored_at'] },
  {
    name: expiredHoursTable,
    keys: 'ts, device',
    columns: hourlyColumns.filter(({ aggregate }) => /count|min|max/.test(aggregate)).map(({ name }) => name),
  },
]

/** Compares two replicas row by row. Rows without values, left by an erase, are ignored. */
export async function differencesOf(one: QuestdbSql, other: QuestdbSql): Promise<string[]> {
  const found: string[] = []
  for (const { name, keys, columns } of comparedTables) {
    if ((await one(`SELECT table_name FROM tables() WHERE table_name = '${name}'`)).length === 0) continue
    const hasValue = columns.map(column => `${column} IS NOT NULL`).join(' OR ')
    const days = new Set<string>()
    for (const sql of [one, other]) {
      for (const [day] of await sql(`SELECT DISTINCT timestamp_floor('d', ts) FROM ${name}`)) days.add(String(day))
    }
    for (const day of days) {
      const text = `SELECT ${keys}, ${columns.join(', ')} FROM ${name} WHERE ts IN '${day.slice(0, 10)}' AND (${hasValue}) ORDER BY ${keys}`
      const [rows, others] = (await Promise.all([one(text), other(text)])).map(some => some.map(row => row.join()))
      const at = (rows ?? []).findIndex((row, index) => row !== others?.[index])
      if (at < 0 && rows?.length === others?.length) continue
      const counts = `${rows?.length} and ${others?.length} rows`
      found.push(`replicas differ in ${name} on ${day}, ${counts}: ${rows?.at(at)} and ${others?.at(at)}`)
    }
  }
  return found
}

export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
