/**
 * The time since which gauges of a fleet have stood still, from their readings: the stretches resolve it only to six
 * hours.
 */

import { rankFindings } from '../../analytics/findings/rank.ts'
import { quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import { qualityLimits } from '../../analytics/quality/quality-limits.ts'
import { type Metric, metrics, readingsTable } from '../../store/tables.ts'
import type { DeviceFinding } from '../findings/fleet-findings.ts'
import type { InsightsEntry } from '../insights-fleet.ts'
import type { InsightsQuery } from '../queries.ts'
import { quoted, whole } from '../questdb/sql-literals.ts'
import { measurementValues, valuesFromSql } from '../questdb/values-table.ts'
import type { FleetReadsContext } from './fleet-reads.ts'

const stretchMs = 86_400_000 / quartersPerDay

/** Reads only gauges that may be listed. Each takes one statement, with a row for each second of twelve hours. */
export async function sinceReadings(
  found: readonly DeviceFinding[],
  fleet: readonly InsightsEntry[],
  { known }: Pick<InsightsQuery, 'known'>,
  { connection, signal }: FleetReadsContext,
): Promise<DeviceFinding[]> {
  const listed = new Set(rankFindings(found))
  const placeOf = new Map(fleet.map(({ name }, place) => [name, place]))
  const exact: DeviceFinding[] = []
  for (const finding of found) {
    const sinceMs = listed.has(finding) ? await sinceOf(finding, placeOf.get(finding.device)) : undefined
    exact.push(sinceMs === undefined ? finding : { ...finding, sinceMs })
  }
  return exact

  async function sinceOf({ metric, sinceMs, value }: DeviceFinding, place: number | undefined) {
    const range = { fromUs: 1000 * (sinceMs - stretchMs), toUs: 1000 * (sinceMs + stretchMs) }
    const read = readOf(metric, place, range)
    if (read === undefined || value === null) return undefined
    const rows: Row[] = []
    await connection.read({ text: read.text, values: [] }, signal, ([firstUs, min, max]) => {
      rows.push([Number(firstUs), Number(min), Number(max)])
    })
    const firstUs = beginningOf(rows, value, read.flat)
    return firstUs === undefined ? undefined : firstUs / 1000
  }

  function readOf(metric: string | null, place: number | undefined, range: { fromUs: number; toUs: number }) {
    const entry = place === undefined ? undefined : fleet[place]
    if (entry === undefined || place === undefined) return undefined
    const column = metrics.find(name => name === metric)
    if (column !== undefined) {
      const { flat } = qualityLimits(column, null, entry.limits?.[column] ?? {})
      return { text: readingsOfDeviceSql(entry.symbol, column, range), flat: flat ?? 0 }
    }
    const gauge = known.gauges.find(one => one.metric.name === metric)
    const series = gauge?.series[gauge.places.indexOf(place)]
    return series === undefined ? undefined : { text: valuesOfSeriesSql(series, range), flat: 0 }
  }
}

/** The readings of one second. Its time in microseconds. */
type Row = readonly [firstUs: number, min: number, max: number]

/**
 * Searches backwards from the newest row while values are equal or their spread is below `flat`. `rows` may be in any
 * order.
 */
export function beginningOf(rows: readonly Row[], value: number, flat: number): number | undefined {
  let firstUs: number | undefined
  let [min, max] = [value, value]
  for (const [timeUs, least, greatest] of rows.toSorted(([a], [b]) => b - a)) {
    min = Math.min(min, least)
    max = Math.max(max, greatest)
    if (min !== max && max - min >= flat) break
    firstUs = timeUs
  }
  return firstUs
}

interface Range {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
}

/**
 * Selects the readings of one gauge in a short range. One row for each second, with its first time and its extremes,
 * bounds their number however often a device sends.
 */
function readingsOfDeviceSql(symbol: string, metric: Metric, { fromUs, toUs }: Range): string {
  const where = `device = ${quoted(symbol)} AND ts >= ${whole(fromUs)} AND ts < ${whole(toUs)} AND ${metric} IS NOT NULL`
  return secondsSql(metric, `${readingsTable} WHERE ${where}`)
}

function valuesOfSeriesSql(series: number, { fromUs, toUs }: Range): string {
  return secondsSql('value', valuesFromSql(measurementValues, { fromUs, toUs, series: [series] }))
}

function secondsSql(value: string, rows: string): string {
  const figures = `cast(min(ts) AS LONG), min(${value}), max(${value})`
  return `SELECT ${figures}, cast(ts AS LONG) / 1000000 second FROM ${rows} GROUP BY second`
}
