/**
 * The insights of a fleet: batteries that run out, outliers among the devices, and findings. Gauges that stand still
 * and silent devices are among the findings.
 */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import { silentFinding } from '../../analytics/findings/from-reliability.ts'
import { fleetChanges, type Outlier } from '../../analytics/fleet/changes.ts'
import { comparedDays, quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type DeviceFinding, fleetFindings, outlierFindings } from '../findings/words.ts'
import type { DescribedGauge, FleetGauge, FleetKnown, InsightsEntry } from '../insights-fleet.ts'
import { type Insights, insightsMax, type OutlierInsight } from '../shapes/insights.ts'
import { batteryFindings, batteryInsight, type DeviceBattery } from './fleet-batteries.ts'
import type { MeansTable } from './fleet-reads.ts'

/** Stretches of six hours. The last four are the last 24 hours. */
export const comparedQuarters = comparedDays * quartersPerDay
export const comparedMetrics = ['temperature', 'humidity', 'pressure'] as const
export type ComparedMetric = (typeof comparedMetrics)[number]
/** Maximum number of devices, those that have changed most. */
const outliersMax = 3

/** Four times the tolerance of common sensors; see docs/statistics.md. */
const differenceMin = { temperature: 2, humidity: 12, pressure: 4 } satisfies Record<ComparedMetric, number>

interface FleetFound {
  readonly fleet: readonly InsightsEntry[]
  readonly known: FleetKnown
  readonly batteries: readonly DeviceBattery[]
  /** Outliers of all metrics. */
  readonly outliers: readonly OutlierInsight[]
  readonly standing: readonly DeviceFinding[]
  readonly generatedAtMs: number
  readonly local: LocalTime
}

const dayMs = 86_400_000

export function buildInsights(found: FleetFound): Insights {
  const { fleet, known, outliers, generatedAtMs } = found
  const silent = new Set(known.silent.map(({ place }) => fleet[place]?.name))
  // Battery estimates assume that a device goes on reporting.
  const batteries = found.batteries.filter(({ device, state }) => state.kind !== 'days' || !silent.has(device))
  const batteriesLeft = batteries.flatMap(batteryInsight)
  const low = batteries.filter(({ state }) => state.kind === 'level').map(({ device }) => device)
  const unlike = outliers.toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score))
  const listed = unlike.slice(0, outliersMax)
  batteriesLeft.sort((a, b) => a.days_left - b.days_left)
  const metrics = known.gauges.map(({ metric }) => metric)
  return {
    generated_at: generatedAtMs,
    ...fleetFindings(findingsOf({ ...found, batteries }, listed), found.local, metrics),
    batteries: batteriesLeft.slice(0, insightsMax),
    batteries_total: batteriesLeft.length,
    batteries_low: [...new Set(low)].slice(0, insightsMax),
    outliers: listed,
    outliers_total: unlike.length,
    gauges_left_out: known.gaugesLeftOut,
    ...(metrics.length === 0 ? {} : { metrics: descriptionsOf(metrics) }),
  }
}

function findingsOf(
  { fleet, known, batteries, standing, generatedAtMs }: FleetFound,
  listed: readonly OutlierInsight[],
) {
  return [
    ...known.silent.flatMap(({ place, state, lastMs }): DeviceFinding[] => {
      const [device, finding] = [fleet[place]?.name, silentFinding(state, lastMs)]
      return device === undefined || finding === undefined ? [] : [{ ...finding, device }]
    }),
    ...standing,
    ...batteries.flatMap(battery => batteryFindings(battery, generatedAtMs)),
    ...outlierFindings(listed, generatedAtMs - dayMs),
  ]
}

function descriptionsOf(metrics: readonly DescribedGauge[]): Insights['metrics'] {
  return Object.fromEntries(
    metrics.map(({ name, title, unit, decimals }) => [name, { title, kind: 'gauge' as const, unit, decimals }]),
  )
}

export function isBattery({ name, unit }: DescribedGauge): boolean {
  return batteryMetricOf(name, unit) !== undefined
}

/** `table` has the metric's means of `comparedQuarters`, at the metric's index. Sorted by score, largest first. */
export function outliersOf(
  fleet: readonly InsightsEntry[],
  metric: ComparedMetric,
  table: Pick<MeansTable, 'mean'>,
  place: number,
): OutlierInsight[] {
  const means = { devices: fleet.length, mean: (device: number, quarter: number) => table.mean(device, quarter, place) }
  const options = { tagsOf: (device: number) => fleet[device]?.tags ?? [], differenceMin: differenceMin[metric] }
  return fleetChanges(means, options).map(outlier => outlierOf(fleet[outlier.device], metric, outlier))
}

/** `table` has a custom gauge's means of the same quarters from `from` on. */
export function gaugeOutliersOf(
  fleet: readonly InsightsEntry[],
  { metric, places }: FleetGauge,
  table: Pick<MeansTable, 'mean'>,
  from: number,
): OutlierInsight[] {
  const entryOf = (device: number) => fleet[places[device] as number]
  const mean = (device: number, quarter: number) => table.mean(from + device, quarter, 0)
  const tagsOf = (device: number) => entryOf(device)?.tags ?? []
  const options = { tagsOf, ...gaugeChanges }
  return fleetChanges({ devices: places.length, mean }, options).map(outlier =>
    outlierOf(entryOf(outlier.device), metric.name, outlier),
  )
}

/** A custom gauge has no known tolerance, and some have heavy tails: wind, or CO₂ where people are. */
export const gaugeChanges = { differenceMin: null, hasPeers: true, scoreMin: 9 } as const

function outlierOf(entry: InsightsEntry | undefined, metric: string, { value, expected, score, peers }: Outlier) {
  return { device: entry?.name ?? '', metric, value, median: expected, score, peers }
}
