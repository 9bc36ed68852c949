/** The insights of a fleet, computed from means: batteries that run out, and outliers among the devices. */

import { batteryState } from '../../analytics/battery/battery-state.ts'
import type { DailyMean } from '../../analytics/battery/line.ts'
import { findOutliers } from '../../analytics/fleet/outliers.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { batteryFindings, fleetFindings, outlierFindings } from '../findings/fleet-findings.ts'
import type { InsightsEntry } from '../insights-fleet.ts'
import { type BatteryInsight, type Insights, insightsMax, type OutlierInsight } from '../shapes/insights.ts'
import type { MeansTable } from './means-table.ts'

/** Stretches of 24 hours; the last one is the most recent. */
export const days = 30
/** Of the last 24 hours. A device is compared only with a value in each of them: a part of a day is biased by the daily cycle. */
export const quarters = 4
/** In order of preference: a charge needs no type of battery. */
export const batteryMetrics = ['battery_percentage', 'battery_voltage'] as const
export const comparedMetrics = ['temperature', 'humidity', 'pressure'] as const

/** Twice the tolerance of common sensors: two good ones may differ by that much; see docs/statistics.md. */
const differenceMin = { temperature: 1, humidity: 6, pressure: 2 }

interface FleetMeans {
  readonly fleet: readonly InsightsEntry[]
  /** Of `days` days and `batteryMetrics`. */
  readonly batteries: MeansTable
  /** Of `quarters` of the last day and `comparedMetrics`. */
  readonly lastDay: MeansTable
  readonly generatedAtMs: number
  readonly local: LocalTime
}

const dayMs = 86_400_000

export function buildInsights({ fleet, batteries, lastDay, generatedAtMs, local }: FleetMeans): Insights {
  const batteriesLeft = fleet.flatMap((entry, place) => batteryOf(entry, place, batteries) ?? [])
  const outliers = comparedMetrics.flatMap((_, metric) => outliersOf(fleet, metric, lastDay))
  batteriesLeft.sort((a, b) => a.days_left - b.days_left)
  outliers.sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
  const sinceMs = generatedAtMs - dayMs
  const found = [...batteryFindings(batteriesLeft, sinceMs), ...outlierFindings(outliers, sinceMs)]
  return {
    generated_at: generatedAtMs,
    ...fleetFindings(found, local),
    batteries: batteriesLeft.slice(0, insightsMax),
    batteries_total: batteriesLeft.length,
    outliers: outliers.slice(0, insightsMax),
    outliers_total: outliers.length,
  }
}

function batteryOf(entry: InsightsEntry, place: number, table: MeansTable): BatteryInsight | undefined {
  const charge = meansOf(place, 0, table)
  const isCharge = charge.length > 0
  const means = isCharge ? charge : meansOf(place, 1, table)
  const last = means.at(-1)
  // A device that has been silent for longer is reported by its state.
  if (last === undefined || last.day < days - 2) return undefined
  const { batteryType: type, batteryCells: cells } = entry
  const state = batteryState(means, { kind: isCharge ? 'charge' : 'voltage', type, cells })
  if (state?.kind !== 'days') return undefined
  // Its mean is that of its middle.
  const sinceDays = days - 0.5 - last.day
  const left = (value: number) => rounded(Math.max(0, value - sinceDays), 1)
  return {
    device: entry.name,
    days_left: left(state.daysLeft),
    low: left(state.low),
    high: left(state.high),
    metric: batteryMetrics[isCharge ? 0 : 1],
    percent_per_day: Number(state.perDay.toPrecision(4)),
  }
}

function meansOf(place: number, metric: number, table: MeansTable): DailyMean[] {
  return Array.from({ length: days }, (_, day) => ({ day, mean: table.mean(place, day, metric) })).filter(
    ({ mean }) => !Number.isNaN(mean),
  )
}

function outliersOf(fleet: readonly InsightsEntry[], index: number, table: MeansTable): OutlierInsight[] {
  const metric = comparedMetrics[index] as (typeof comparedMetrics)[number]
  const compared = fleet
    .map(({ name }, place) => ({ name, value: meanOfDay(place, index, table) }))
    .filter(({ value }) => !Number.isNaN(value))
  const found = findOutliers(compared.map(({ value }) => value))
  if (found === undefined) return []
  return found.outliers.flatMap(({ index: at, score }) => {
    const one = compared[at]
    if (one === undefined || Math.abs(one.value - found.median) < differenceMin[metric]) return []
    const statistics = { value: rounded(one.value, 2), median: rounded(found.median, 2), score: rounded(score, 2) }
    return { device: one.name, metric, ...statistics }
  })
}

/** NaN when a quarter of the day has no value. */
function meanOfDay(place: number, metric: number, table: MeansTable): number {
  let sum = 0
  for (let quarter = 0; quarter < quarters; quarter++) sum += table.mean(place, quarter, metric)
  return sum / quarters
}

function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals
  return Math.round(value * scale) / scale
}
