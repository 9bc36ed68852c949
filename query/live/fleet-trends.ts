/** The last 24 hours of some devices: the hourly means of one metric of each, and its trend. */

import { threeHourChange, trendOf } from '../../analytics/summary/three-hour-trend.ts'
import { type AirMetric, airMetrics } from '../answers/units.ts'
import { metricCount } from './columns.ts'
import type { FleetTrends } from './fleet-shape.ts'
import { shownAfterUs } from './fleet-text.ts'
import { meanOf } from './hour-means.ts'
import { hourMs, hoursShown } from './hours.ts'
import type { ListedDevice } from './listed-order.ts'
import type { LiveDevice, LiveFleet } from './live-fleet.ts'

type DeviceTrend = FleetTrends['devices'][number]

/** Smaller changes in three hours count as steady; for pressure, marine forecasts call them slow. */
const steadyMax: Record<AirMetric, number> = { temperature: 0.5, humidity: 3, pressure: 1.5 }

export function trendsOf(
  fleet: LiveFleet,
  of: readonly ListedDevice[],
  nowMs: number,
): Omit<FleetTrends, 'generated_at'> {
  const slots = of.map(({ number }) => fleet.slotOf(number)).filter(slot => slot >= 0)
  const devices = slots.flatMap(slot => trendOfDevice(fleet, slot, nowMs) ?? [])
  return { until: Math.floor(nowMs / hourMs) * hourMs, devices }
}

/** Undefined for a device without these metrics. */
function trendOfDevice(fleet: LiveFleet, slot: number, nowMs: number): DeviceTrend | undefined {
  const columns = fleet.columns()
  const metricAt = columns.meanMetric[slot] as number
  const metric = airMetrics[metricAt]
  if (metric === undefined) return undefined
  const presentHour = Math.floor(nowMs / hourMs)
  const means: (number | null)[] = []
  for (let hour = presentHour - hoursShown; hour < presentHour; hour++) means.push(rounded(meanOf(columns, slot, hour)))
  const at = slot * metricCount + metricAt
  const valueUs = columns.valuesUs[at] as number
  const isShown = valueUs > shownAfterUs(fleet, slot, nowMs)
  const change = isShown
    ? threeHourChange(columns.values[at] as number, valueUs / 1000, hour => meanOf(columns, slot, hour))
    : Number.NaN
  const trend = Number.isNaN(change) ? null : trendOf(change, steadyMax[metric])
  return { device: (fleet.device(slot) as LiveDevice).name, metric, means, change: rounded(change), trend }
}

/** Means are kept in single precision, so more digits would be noise. */
function rounded(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toFixed(2))
}
