/** Stored values of custom metrics. */

import { measurementsTable } from '../../store/tables.ts'
import { askPostgres } from './databases.ts'
import { absent, type RowValues } from './identity.ts'
import type { StoredRow } from './oracle.ts'
import { numberOf, type QuestdbSql } from './questdb-sql.ts'

export interface CustomSeries {
  device: string
  metric: string
}

export async function readCustomSeries(
  postgresUrl: string,
  names: ReadonlyMap<string, string>,
): Promise<Map<number, CustomSeries>> {
  const text = `SELECT s.number, d.symbol, m.name AS metric FROM metric_series s
    JOIN devices d ON d.number = s.device JOIN metrics m ON m.id = s.metric WHERE d.symbol = ANY($1)`
  const rows = await askPostgres<Record<'symbol' | 'metric', string> & { number: number }>(postgresUrl, text, [
    [...names.keys()],
  ])
  return new Map(rows.map(({ number, symbol, metric }) => [number, { device: names.get(symbol) ?? symbol, metric }]))
}

/** A metric of a device whose values were erased. */
export interface ErasedSeries extends CustomSeries {
  numbers: number[]
  doneMs: number
}

export function readErasedSeries(postgresUrl: string, devices: readonly string[]): Promise<ErasedSeries[]> {
  const doneMs = `1000 * extract(epoch FROM finished_at)::float8 AS "doneMs"`
  const text = `SELECT name AS device, metric, numbers, ${doneMs} FROM erase_jobs
    WHERE rows_of = 'measurements' AND state = 'done' AND name = ANY($1)`
  return askPostgres(postgresUrl, text, [devices])
}

/** The rows of these names must not have values. */
export const nameOfErased = ({ device, metric }: CustomSeries): string => `${device} ${metric}`

/** Adds custom values to their rows. Values without a reading become separate rows, which match no attempt. */
export async function withCustom(
  rows: readonly StoredRow[],
  sql: QuestdbSql,
  series: ReadonlyMap<number, CustomSeries>,
): Promise<StoredRow[]> {
  const found = await readValues(sql, series)
  const joined = rows.map(row => {
    const key = keyOf(row)
    const values: RowValues = { ...row.values, ...absent, ...found.get(key)?.values }
    found.delete(key)
    return { ...row, values }
  })
  return [...joined, ...found.values()]
}

async function readValues(sql: QuestdbSql, series: ReadonlyMap<number, CustomSeries>): Promise<Map<string, StoredRow>> {
  const found = new Map<string, StoredRow>()
  if (series.size === 0) return found
  const condition = `series IN (${[...series.keys()].join(', ')}) AND value IS NOT NULL`
  for (const [number, time, value] of await sql(
    `SELECT series, cast(ts AS LONG), value FROM ${measurementsTable} WHERE ${condition}`,
  )) {
    const { device, metric } = series.get(Number(number)) ?? { device: '', metric: '' }
    const row = { device, timeUs: Number(time), values: { [metric]: numberOf(value) } }
    const others = found.get(keyOf(row))?.values
    found.set(keyOf(row), { ...row, values: { ...others, ...row.values } })
  }
  return found
}

const keyOf = ({ device, timeUs }: StoredRow): string => `${device} ${timeUs}`
