/**
 * Batteries of a fleet, judged by daily means: of the two columns together, and of gauges beside the five.
 */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import type { DailyMean } from '../../analytics/battery/line.ts'
import { leftOf } from '../../analytics/findings/from-battery.ts'
import {
  batteryDays,
  batteryFindingAt,
  columnBattery,
  knownBattery,
  type MeasuredBattery,
} from '../findings/known-battery.ts'
import type { DeviceFinding } from '../findings/words.ts'
import type { FleetGauge, InsightsEntry } from '../insights-fleet.ts'
import type { BatteryInsight } from '../shapes/insights.ts'
import type { MeansTable } from './fleet-reads.ts'

export const batteryMetrics = ['battery_percentage', 'battery_voltage'] as const

export interface DeviceBattery extends MeasuredBattery {
  readonly device: string
}

/** `table` has the means of `batteryDays` and `batteryMetrics`. */
export function columnBatteries(fleet: readonly InsightsEntry[], table: Pick<MeansTable, 'mean'>): DeviceBattery[] {
  return fleet.flatMap((entry, place) => {
    const { name: device, batteryType: type, batteryCells: cells } = entry
    const battery = columnBattery(
      { type, cells },
      { battery_percentage: meansOf(table, place, 0, 1), battery_voltage: meansOf(table, place, 1, 1) },
    )
    return battery === undefined ? [] : [{ device, ...battery }]
  })
}

/** `table` has the daily means of series; this gauge's begin at `from`. */
export function gaugeBatteries(
  fleet: readonly InsightsEntry[],
  { metric: { name, unit }, places }: FleetGauge,
  table: Pick<MeansTable, 'mean'>,
  from: number,
): DeviceBattery[] {
  const of = batteryMetricOf(name, unit)
  if (of === undefined) return []
  return places.flatMap((place, at) =>
    batteryOf(fleet[place] as InsightsEntry, { metric: name, ...of }, meansOf(table, from + at, 0, of.scale)),
  )
}

function batteryOf(
  { name: device, batteryType: type, batteryCells: cells }: InsightsEntry,
  of: Pick<DeviceBattery, 'metric' | 'kind' | 'scale'>,
  means: readonly DailyMean[],
): DeviceBattery[] {
  const battery = knownBattery({ type, cells }, of, means)
  return battery === undefined ? [] : [{ device, ...battery }]
}

function meansOf(table: Pick<MeansTable, 'mean'>, place: number, metric: number, scale: number): DailyMean[] {
  return Array.from({ length: batteryDays }, (_, day) => ({
    day,
    mean: scale * table.mean(place, day, metric),
  })).filter(({ mean }) => !Number.isNaN(mean))
}

export function batteryInsight({ device, metric, state, sinceDays }: DeviceBattery): BatteryInsight[] {
  if (state.kind !== 'days') return []
  const { daysLeft: days_left, low, high } = leftOf(state, sinceDays)
  return [{ device, days_left, low, high, metric, percent_per_day: Number(state.perDay.toPrecision(4)) }]
}

export function batteryFindings({ device, ...battery }: DeviceBattery, nowMs: number): DeviceFinding[] {
  const finding = batteryFindingAt(battery, nowMs)
  return finding === undefined ? [] : [{ ...finding, device }]
}
