/** Values of metrics beside the five: which ones a reading of the load has, and which ones are stored. */

import pg from 'pg'
import { measurementsTable } from '../../store/tables.ts'
import type { RowValues } from './identity.ts'
import type { StoredRow } from './oracle.ts'
import { numberOf, type QuestdbSql } from './questdb-sql.ts'

/** A series of a device. */
export interface FurtherSeries {
  device: string
  metric: string
}

const metricCount = 20
const metricOf = (index: number): string => `fault_${index}`
/** Of which values are erased. */
export const erasedMetric = metricOf(0)
/** A power of two: what stands behind the point is exact in a double and in its text. */
const checkSteps = 32

/** None up to twenty of them, by the attempt's number, which is in each value. */
export function furtherOf(sequence: number): Record<string, number> {
  const count = sequence % (metricCount + 1)
  const first = (sequence * 7) % metricCount
  const indices = Array.from({ length: count }, (_, index) => (first + index) % metricCount)
  return Object.fromEntries(indices.map(index => [metricOf(index), sequence + index / checkSteps]))
}

const absent = Object.fromEntries(Array.from({ length: metricCount }, (_, index) => [metricOf(index), Number.NaN]))

/** All that a reading may have, NaN where it has none. */
export function allFurtherOf(sequence: number): Readonly<Record<string, number>> {
  return { ...absent, ...furtherOf(sequence) }
}

/** By the number of the series. */
export async function readFurtherSeries(
  connectionString: string,
  names: ReadonlyMap<string, string>,
): Promise<Map<number, FurtherSeries>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const text = `SELECT s.number, d.symbol, m.name AS metric FROM metric_series s
      JOIN devices d ON d.number = s.device JOIN metrics m ON m.id = s.metric WHERE d.symbol = ANY($1)`
    const { rows } = await client.query<{ number: number; symbol: string; metric: string }>(text, [[...names.keys()]])
    return new Map(rows.map(({ number, symbol, metric }) => [number, { device: names.get(symbol) ?? symbol, metric }]))
  } finally {
    await client.end()
  }
}

/** A metric of a device of which values were erased. */
export interface ErasedSeries extends FurtherSeries {
  /** Under which they stood. */
  numbers: number[]
  /** When that was reported as done, epoch milliseconds. */
  doneMs: number
}

/** Of these devices. */
export async function readErasedSeries(connectionString: string, devices: readonly string[]): Promise<ErasedSeries[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const text = `SELECT name AS device, metric, numbers, 1000 * extract(epoch FROM finished_at)::float8 AS "doneMs" FROM erase_jobs
      WHERE rows_of = 'measurements' AND state = 'done' AND name = ANY($1)`
    return (await client.query<ErasedSeries>(text, [devices])).rows
  } finally {
    await client.end()
  }
}

/** Whose rows are to have no values any more. */
export const nameOfErased = ({ device, metric }: FurtherSeries): string => `${device} ${metric}`

/** The rows with their further values; those of no reading are rows of their own, which no attempt explains. */
export async function withFurther(
  rows: readonly StoredRow[],
  sql: QuestdbSql,
  series: ReadonlyMap<number, FurtherSeries>,
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

async function readValues(
  sql: QuestdbSql,
  series: ReadonlyMap<number, FurtherSeries>,
): Promise<Map<string, StoredRow>> {
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
