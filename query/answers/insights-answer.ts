/** The insights of a fleet, computed from means: batteries that run out, and outliers among the devices. */

import { batteryState } from '../../analytics/battery/battery-state.ts'
import type { DailyMean } from '../../analytics/battery/line.ts'
import { batteryFinding, type KnownBattery, leftOf } from '../../analytics/findings/from-battery.ts'
import { fleetChanges } from '../../analytics/fleet/changes.ts'
import { comparedDays, quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type DeviceFinding, fleetFindings, outlierFindings } from '../findings/fleet-findings.ts'
import type { InsightsEntry } from '../insights-fleet.ts'
import { type BatteryInsight, type Insights, insightsMax, type OutlierInsight } from '../shapes/insights.ts'
import type { MeansTable } from './means-table.ts'

/** Stretches of 24 hours; the last one is the most recent. */
export const days = 30
/** Stretches of six hours of which the last ones are the last 24 hours. */
export const comparedQuarters = comparedDays * quartersPerDay
/** In order of preference: a charge needs no type of battery. */
export const batteryMetrics = ['battery_percentage', 'battery_voltage'] as const
export const comparedMetrics = ['temperature', 'humidity', 'pressure'] as const
export type ComparedMetric = (typeof comparedMetrics)[number]
/** The ones that have changed most. */
const outliersMax = 3

/** Four times the tolerance of common sensors; see docs/statistics.md. */
const differenceMin = { temperature: 2, humidity: 12, pressure: 4 } satisfies Record<ComparedMetric, number>

interface FleetMeans {
  readonly fleet: readonly InsightsEntry[]
  /** Of `days` days and `batteryMetrics`. */
  readonly batteries: MeansTable
  /** Of all metrics. */
  readonly outliers: readonly OutlierInsight[]
  readonly generatedAtMs: number
  readonly local: LocalTime
}

const dayMs = 86_400_000

export function buildInsights({ fleet, batteries, outliers, generatedAtMs, local }: FleetMeans): Insights {
  const states = fleet.flatMap((entry, place) => batteryOf(entry, place, batteries) ?? [])
  const batteriesLeft = states.flatMap(batteryInsight)
  const unlike = outliers.toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score))
  const listed = unlike.slice(0, outliersMax)
  batteriesLeft.sort((a, b) => a.days_left - b.days_left)
  const sinceMs = generatedAtMs - dayMs
  const found = [
    ...states.flatMap(battery => batteryFindings(battery, generatedAtMs)),
    ...outlierFindings(listed, sinceMs),
  ]
  return {
    generated_at: generatedAtMs,
    ...fleetFindings(found, local),
    batteries: batteriesLeft.slice(0, insightsMax),
    batteries_total: batteriesLeft.length,
    outliers: listed,
    outliers_total: unlike.length,
  }
}

interface DeviceBattery extends KnownBattery {
  readonly device: string
  readonly metric: BatteryInsight['metric']
}

function batteryOf(entry: InsightsEntry, place: number, table: MeansTable): DeviceBattery | undefined {
  const charge = meansOf(place, 0, table)
  const isCharge = charge.length > 0
  const means = isCharge ? charge : meansOf(place, 1, table)
  const last = means.at(-1)
  // A device that has been silent for longer is reported by its state.
  if (last === undefined || last.day < days - 2) return undefined
  const { batteryType: type, batteryCells: cells } = entry
  const kind = isCharge ? 'charge' : 'voltage'
  const state = batteryState(means, { kind, type, cells })
  if (state === undefined) return undefined
  const metric = batteryMetrics[isCharge ? 0 : 1]
  return { device: entry.name, metric, kind, state, sinceDays: days - 0.5 - last.day }
}

function batteryInsight({ device, metric, state, sinceDays }: DeviceBattery): BatteryInsight[] {
  if (state.kind !== 'days') return []
  const { daysLeft: days_left, low, high } = leftOf(state, sinceDays)
  return [{ device, days_left, low, high, metric, percent_per_day: Number(state.perDay.toPrecision(4)) }]
}

function batteryFindings({ device, ...battery }: DeviceBattery, nowMs: number): DeviceFinding[] {
  const finding = batteryFinding(battery, { firstDayMs: nowMs - days * dayMs, toldMs: nowMs - dayMs })
  return finding === undefined ? [] : [{ ...finding, device }]
}

function meansOf(place: number, metric: number, table: MeansTable): DailyMean[] {
  return Array.from({ length: days }, (_, day) => ({ day, mean: table.mean(place, day, metric) })).filter(
    ({ mean }) => !Number.isNaN(mean),
  )
}

/** Of a metric: `table` has its means of `comparedQuarters`, at a place among the metrics that it has. Largest score first. */
export function outliersOf(
  fleet: readonly InsightsEntry[],
  metric: ComparedMetric,
  table: Pick<MeansTable, 'mean'>,
  place: number,
): OutlierInsight[] {
  const means = { devices: fleet.length, mean: (device: number, quarter: number) => table.mean(device, quarter, place) }
  const options = { tagsOf: (device: number) => fleet[device]?.tags ?? [], differenceMin: differenceMin[metric] }
  return fleetChanges(means, options).map(({ device, value, expected, score }) => {
    const figures = { value: rounded(value, 2), median: rounded(expected, 2), score: rounded(score, 2) }
    return { device: fleet[device]?.name ?? '', metric, ...figures }
  })
}

function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals
  return Math.round(value * scale) / scale
}
