/** Gauges of a fleet that stand still, found by the extremes of its stretches and dated by their readings. */

import { noDetails, rankFindings } from '../../analytics/findings/finding.ts'
import { quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import type { StandingRun, StandingRuns } from '../../analytics/fleet/standing-runs.ts'
import { type MetricSettings, type QualityLimits, qualityLimits } from '../../analytics/quality/quality-limits.ts'
import { type Metric, metrics, readingsTable } from '../../store/tables.ts'
import type { DeviceFinding } from '../findings/words.ts'
import type { FleetGauge, InsightsEntry } from '../insights-fleet.ts'
import type { InsightsQuery } from '../queries.ts'
import { measurementValues, quoted, valuesFromSql, whole } from '../questdb/values-table.ts'
import type { FleetReadsContext } from './fleet-reads.ts'

const hourMs = 3_600_000
const stretchMs = (24 / quartersPerDay) * hourMs
/** A flat line is reported from twice its limit on, as in the findings of a device. */
const flatTimes = 2

/** `endMs` is the end of the last stretch. */
export function standingColumns(
  fleet: readonly InsightsEntry[],
  metric: Metric,
  runs: StandingRuns,
  endMs: number,
): DeviceFinding[] {
  return fleet.flatMap(({ name, limits }, place) =>
    findingOf(name, metric, runs.standing(place), limits?.[metric] ?? {}, endMs),
  )
}

/** The series of this gauge begin at `from` in `runs`. */
export function standingGauges(
  fleet: readonly InsightsEntry[],
  { metric, places }: FleetGauge,
  { runs, from }: { readonly runs: StandingRuns; readonly from: number },
  endMs: number,
): DeviceFinding[] {
  return places.flatMap((place, at) => {
    const run = runs.standing(from + at)
    // A zero may mean that there is nothing to measure: no light, no wind.
    if (run === undefined || run.value === 0) return []
    return findingOf((fleet[place] as InsightsEntry).name, metric.name, run, metric.quality ?? {}, endMs)
  })
}

function findingOf(
  device: string,
  metric: string,
  run: StandingRun | undefined,
  settings: MetricSettings,
  endMs: number,
): DeviceFinding[] {
  if (run === undefined) return []
  const { value, stretches } = run
  if (!isReported(value, stretches * stretchMs, settings, qualityLimits(metric, null, settings))) return []
  const severity = stretches > quartersPerDay ? 'critical' : 'warning'
  const sinceMs = endMs - stretches * stretchMs
  return [{ ...noDetails, device, code: 'stuck', severity, metric, sinceMs, value, count: 1 }]
}

function isReported(value: number, lengthMs: number, { flat_hours }: MetricSettings, limits: QualityLimits): boolean {
  const [above, below] = limits.flatWithin
  const isWithin = value > above && value < below
  // Null disables the test.
  return flat_hours !== null && isWithin && lengthMs >= flatTimes * (limits.flatMs ?? 0)
}

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
  /** The end is not part of the range. */
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
