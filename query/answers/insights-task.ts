/** Reads the hours of the whole fleet for its insights, by stretches that end at the last full hour. */

import { quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import { StandingRuns } from '../../analytics/fleet/standing-runs.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { batteryDays, lastFullHour } from '../findings/known-battery.ts'
import type { InsightsEntry } from '../insights-fleet.ts'
import type { InsightsQuery } from '../queries.ts'
import { batteryMetrics, columnBatteries, type DeviceBattery, gaugeBatteries } from './fleet-batteries.ts'
import { createFleetReads, type FleetReads, type FleetReadsContext } from './fleet-reads.ts'
import { standingColumns, standingGauges } from './fleet-standing.ts'
import {
  buildInsights,
  type ComparedMetric,
  comparedMetrics,
  comparedQuarters,
  gaugeOutliersOf,
  isBattery,
  outliersOf,
} from './insights-answer.ts'
import type { MeansTable } from './means-table.ts'
import { sinceReadings } from './standing-since.ts'

interface Context extends FleetReadsContext {
  /** Local time of the service. */
  readonly local: LocalTime
}

const dayUs = 86_400_000_000
const ofDays = { count: batteryDays, lengthUs: dayUs }
const ofQuarters = { count: comparedQuarters, lengthUs: dayUs / quartersPerDay }
/** Larger fleets read one metric at a time: the means of one take 600 bytes a device. */
const devicesAtOnceMax = 20_000

export async function answerInsights(
  query: InsightsQuery,
  fleet: readonly InsightsEntry[],
  context: Context,
): Promise<string> {
  const { nowUs, known } = query
  const reads = createFleetReads(query, fleet, context)
  const endMs = lastFullHour(nowUs / 1000)
  const columns = await reads.columns(batteryMetrics, ofDays)
  const batteries = [...columnBatteries(fleet, columns), ...(await readGaugeBatteries(query, fleet, reads))]
  const ofColumns = await compareColumns(fleet, reads, endMs)
  const ofGauges = await compareGauges(query, fleet, reads, endMs)
  const outliers = [...ofColumns.outliers, ...ofGauges.outliers]
  const standing = await sinceReadings([...ofColumns.standing, ...ofGauges.standing], fleet, query, context)
  const generatedAtMs = nowUs / 1000
  return JSON.stringify(
    buildInsights({ fleet, known, batteries, outliers, standing, generatedAtMs, local: context.local }),
  )
}

async function compareColumns(fleet: readonly InsightsEntry[], reads: FleetReads, endMs: number) {
  const found: Compared = { outliers: [], standing: [] }
  const atOnce = fleet.length > devicesAtOnceMax ? 1 : comparedMetrics.length
  for (let from = 0; from < comparedMetrics.length; from += atOnce) {
    const some: readonly ComparedMetric[] = comparedMetrics.slice(from, from + atOnce)
    const runs = some.map(() => new StandingRuns(fleet.length, comparedQuarters))
    const table = await reads.columns(some, ofQuarters, runs)
    for (const [place, metric] of some.entries()) {
      found.outliers.push(...outliersOf(fleet, metric, table, place))
      found.standing.push(...standingColumns(fleet, metric, runs[place] as StandingRuns, endMs))
    }
  }
  return found
}

type Compared = { outliers: ReturnType<typeof outliersOf>; standing: ReturnType<typeof standingColumns> }

/** Compares all gauges with one statement for each stretch. */
async function compareGauges(
  { known }: InsightsQuery,
  fleet: readonly InsightsEntry[],
  reads: FleetReads,
  endMs: number,
): Promise<Compared> {
  const found: Compared = { outliers: [], standing: [] }
  const gauges = known.gauges.filter(({ metric }) => !isBattery(metric))
  const series = gauges.flatMap(one => one.series)
  const runs = new StandingRuns(series.length, comparedQuarters)
  const table = await reads.series(series, ofQuarters, runs)
  let from = 0
  for (const gauge of gauges) {
    found.outliers.push(...gaugeOutliersOf(fleet, gauge, table, from))
    found.standing.push(...standingGauges(fleet, gauge, { runs, from }, endMs))
    from += gauge.series.length
  }
  return found
}

async function readGaugeBatteries(
  { known }: InsightsQuery,
  fleet: readonly InsightsEntry[],
  reads: FleetReads,
): Promise<DeviceBattery[]> {
  const gauges = known.gauges.filter(({ metric }) => isBattery(metric))
  const series = gauges.flatMap(one => one.series)
  const table: MeansTable = await reads.series(series, ofDays)
  let from = 0
  return gauges.flatMap(gauge => {
    const found = gaugeBatteries(fleet, gauge, table, from)
    from += gauge.series.length
    return found
  })
}
