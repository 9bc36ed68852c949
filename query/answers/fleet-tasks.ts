/** Reads the initial state of the fleet in a worker: last readings, hours, and single devices. */

import type { PgConnection, PgRow, Statement } from '../../store/questdb/client/questdb-pg.ts'
import { hourlyColumns, hourlyView, metrics, readingsTable } from '../../store/tables.ts'
import type { FleetQueries, Queries } from '../queries.ts'
import { measurementValues, valuesFromSql, whole } from '../questdb/values-table.ts'
import { airMetrics } from '../series.ts'
import { customRow, hourRow, lastRow, type PackedRows, RowList } from './fleet-rows.ts'

/** Reads the number at the end of a device's symbol; NaN for a symbol of another origin. */
function numberOf(symbol: unknown): number {
  const text = String(symbol)
  const digits = text.slice(text.lastIndexOf('-') + 1)
  return digits.length > 0 && digits.length <= 10 ? Number(digits) : Number.NaN
}

type Connection = Pick<PgConnection, 'read'>

/** The last reading of each device that has one in the range, and the last value of each of its metrics there. */
export async function readFleetLast(
  { fromUs, toUs }: FleetQueries['fleetLast'],
  connection: Connection,
  signal: AbortSignal,
): Promise<PackedRows> {
  const rows = new RowList(lastRow.width)
  const values = [fromUs, toUs]
  const places = new Map<number, number>()
  const missing = new Set<number>()
  const columns = `device, cast(ts AS LONG), ${metrics.join(', ')}`
  await connection.read({ ...lastSql(columns, '', 'last'), values }, signal, row => {
    const number = numberOf(row[0])
    const timeUs = Number(row[1])
    const at = rows.add()
    places.set(number, at)
    const numbers = rows.numbers()
    numbers[at] = number
    numbers[at + lastRow.timeUs] = timeUs
    for (let metric = 0; metric < metrics.length; metric++) {
      const value = row[2 + metric]
      if (value === null || value === undefined) missing.add(metric)
      else setValue(numbers, at, metric, Number(value), timeUs)
    }
  })
  for (const metric of missing) {
    const name = metrics[metric] as string
    const one = lastSql(`device, cast(ts AS LONG), ${name}`, `AND ${name} IS NOT NULL`, `last-${name}`)
    await connection.read({ ...one, values }, signal, ([device, timeUs, value]: PgRow) => {
      const at = places.get(numberOf(device))
      // A device without a row is skipped: readings may have come between the two statements.
      if (at !== undefined) setValue(rows.numbers(), at, metric, Number(value), Number(timeUs))
    })
  }
  return rows.packed()
}

/** Keeps a newer value. */
function setValue(numbers: Float64Array, at: number, metric: number, value: number, timeUs: number): void {
  const knownUs = numbers[at + lastRow.valuesUs + metric] as number
  if (knownUs >= timeUs) return
  numbers[at + lastRow.values + metric] = value
  numbers[at + lastRow.valuesUs + metric] = timeUs
}

function lastSql(columns: string, more: string, name: string): Omit<Statement, 'values'> {
  const where = `WHERE ts >= $1 AND ts < $2 ${more}`
  return {
    name: `fleet-${name}`,
    text: `SELECT ${columns} FROM ${readingsTable} ${where} LATEST ON ts PARTITION BY device`,
  }
}

/** The last value in the range of each series without a column. */
export async function readFleetCustom(
  range: FleetQueries['fleetCustom'],
  connection: Connection,
  signal: AbortSignal,
): Promise<PackedRows> {
  const rows = new RowList(customRow.width)
  const columns = 'SELECT series, cast(ts AS LONG), value'
  const text = `${columns} FROM ${valuesFromSql(measurementValues, range)} LATEST ON ts PARTITION BY series`
  await connection.read({ text, values: [] }, signal, ([series, timeUs, value]: PgRow) => {
    const at = rows.add()
    const numbers = rows.numbers()
    numbers[at + customRow.series] = Number(series)
    numbers[at + customRow.timeUs] = Number(timeUs)
    numbers[at + customRow.value] = Number(value)
  })
  return rows.packed()
}

const hourUs = 3_600_000_000
/** The order is the same as in `hourRow`. */
const ofView = [...airMetrics.map(metric => `${metric}_count`), ...airMetrics.map(metric => `${metric}_mean`)].join(
  ', ',
)
const ofReadings = [
  ...airMetrics.map(metric => `count(${metric})`),
  ...airMetrics.map(metric => `avg(${metric})`),
].join(', ')
const viewCounts = hourlyColumns.filter(({ aggregate }) => aggregate === 'count').map(({ name }) => name)

/**
 * The number of readings of each device in an hour, with its means of the air. The view counts the readings of the most
 * frequent metric.
 */
export async function readFleetHour(
  { fromUs, isInView, hourSources }: Queries['fleetHour'],
  connection: Connection,
  signal: AbortSignal,
): Promise<PackedRows> {
  const rows = new RowList(hourRow.width)
  const statement =
    isInView && fromUs + hourUs <= hourSources.rawFromUs
      ? {
          name: 'fleet-hour-view',
          text: `SELECT device, greatest(${viewCounts.join(', ')}), ${ofView} FROM ${hourlyView} WHERE ts = $1`,
          values: [whole(fromUs)],
        }
      : {
          name: 'fleet-hour-raw',
          text: `SELECT device, count(), ${ofReadings} FROM ${readingsTable} WHERE ts >= $1 AND ts < $2`,
          values: [whole(fromUs), whole(fromUs + hourUs)],
        }
  await connection.read(statement, signal, ([device, count, ...ofMetrics]: PgRow) => {
    const at = rows.add()
    const numbers = rows.numbers()
    numbers[at] = numberOf(device)
    numbers[at + hourRow.count] = Number(count)
    for (const [place, value] of ofMetrics.entries()) numbers[at + hourRow.counts + place] = Number(value ?? Number.NaN)
  })
  return rows.packed()
}
