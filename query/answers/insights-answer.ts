/** The insights of a fleet, computed from means: batteries that run out, and outliers among the devices. */

import { batteryDays, type DailyMean } from '../../analytics/fleet/battery-days.ts'
import { findOutliers } from '../../analytics/fleet/outliers.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { batteryFindings, fleetFindings, outlierFindings } from '../findings/fleet-findings.ts'
import type { FleetEntry } from '../fleet.ts'
import { type BatteryInsight, type Insights, insightsMax, type OutlierInsight } from '../shapes/insights.ts'
import type { MeansTable } from './means-table.ts'

/** Stretches of 24 hours; the last one is the most recent. */
export const days = 30
/** Of the last 24 hours. A device is compared only with a value in each of them: a part of a day is biased by the daily cycle. */
export const quarters = 4
/** In order of preference: with a voltage the kind of battery is an assumption. */
export const batteryMetrics = ['battery_percentage', 'battery_voltage'] as const
export const comparedMetrics = ['temperature', 'humidity', 'pressure'] as const

/** An extrapolation of 30 days is not reported beyond this. */
const daysMax = 90
const percentageLimits = { end: 0, jump: 10, daysMax }
const voltageJump = 0.2
/** The empty voltage by the highest daily mean; see docs/statistics.md. */
const voltageEnds = [
  { from: 3.4, to: 4.5, end: 3 },
  { from: 2, to: 3.4, end: 2 },
]
/** Twice the tolerance of common sensors: two good ones may differ by that much; see docs/statistics.md. */
const differenceMin = { temperature: 1, humidity: 6, pressure: 2 }

interface FleetMeans {
  readonly fleet: readonly FleetEntry[]
  /** Of `days` days and `batteryMetrics`. */
  readonly batteries: MeansTable
  /** Of `quarters` of the last day and `comparedMetrics`. */
  readonly lastDay: MeansTable
  readonly generatedAtMs: number
  readonly local: LocalTime
}

const dayMs = 86_400_000

export function buildInsights({ fleet, batteries, lastDay, generatedAtMs, local }: FleetMeans): Insights {
  const batteriesLeft = fleet.flatMap(({ name }, place) => batteryOf(name, place, batteries) ?? [])
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

function batteryOf(device: string, place: number, table: MeansTable): BatteryInsight | undefined {
  const charge = meansOf(place, 0, table)
  const isCharge = charge.length > 0
  const means = isCharge ? charge : meansOf(place, 1, table)
  const limits = isCharge ? percentageLimits : voltageLimits(means)
  const last = means.at(-1)
  // A device that has been silent for longer is reported by its state.
  if (limits === undefined || last === undefined || last.day < days - 2) return undefined
  const found = batteryDays(means, limits)
  if (found === undefined) return undefined
  const sinceDays = days - 1 - last.day
  const left = (value: number) => rounded(Math.max(0, value - sinceDays), 1)
  const entry = { device, days_left: left(found.daysLeft), low: left(found.low), high: left(found.high) }
  const perDay = Number(found.perDay.toPrecision(4))
  return isCharge
    ? { ...entry, metric: 'battery_percentage', percent_per_day: perDay }
    : { ...entry, metric: 'battery_voltage', volts_per_day: perDay }
}

function voltageLimits(means: readonly DailyMean[]) {
  const highest = means.reduce((max, { mean }) => Math.max(max, mean), 0)
  const kind = voltageEnds.find(({ from, to }) => highest >= from && highest < to)
  return kind === undefined ? undefined : { end: kind.end, jump: voltageJump, daysMax }
}

function meansOf(place: number, metric: number, table: MeansTable): DailyMean[] {
  return Array.from({ length: days }, (_, day) => ({ day, mean: table.mean(place, day, metric) })).filter(
    ({ mean }) => !Number.isNaN(mean),
  )
}

function outliersOf(fleet: readonly FleetEntry[], index: number, table: MeansTable): OutlierInsight[] {
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
