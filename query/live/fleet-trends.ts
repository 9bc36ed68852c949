/** The last 24 hours of some devices: the hourly means of a metric of each, and where it is going. */

import { threeHourChange, trendOf } from '../../analytics/summary/three-hour-trend.ts'
import { type AirMetric, airMetrics } from '../answers/units.ts'
import { metricCount } from './columns.ts'
import type { FleetTrends } from './fleet-shape.ts'
import { toldAfterUs } from './fleet-text.ts'
import { meanOf } from './hour-means.ts'
import { hourMs, hoursShown } from './hours.ts'
import type { ListedDevice } from './listed-order.ts'
import type { LiveDevice, LiveFleet } from './live-fleet.ts'

type DeviceTrend = FleetTrends['devices'][number]

/** Changes in three hours that are none: of pressure, those that marine forecasts call slow. */
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

/** Undefined for a device that has sent none of these metrics. */
function trendOfDevice(fleet: LiveFleet, slot: number, nowMs: number): DeviceTrend | undefined {
  const columns = fleet.columns()
  const metricAt = columns.meanMetric[slot] as number
  const metric = airMetrics[metricAt]
  if (metric === undefined) return undefined
  const presentHour = Math.floor(nowMs / hourMs)
  const means: (number | null)[] = []
  for (let hour = presentHour - hoursShown; hour < presentHour; hour++) means.push(told(meanOf(columns, slot, hour)))
  const at = slot * metricCount + metricAt
  const valueUs = columns.valuesUs[at] as number
  const isTold = valueUs > toldAfterUs(fleet, slot, nowMs)
  const change = isTold
    ? threeHourChange(columns.values[at] as number, valueUs / 1000, hour => meanOf(columns, slot, hour))
    : Number.NaN
  const trend = Number.isNaN(change) ? null : trendOf(change, steadyMax[metric])
  return { device: (fleet.device(slot) as LiveDevice).name, metric, means, change: told(change), trend }
}

/** Means are kept in single precision: more digits say nothing. */
function told(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toFixed(2))
}
