/** Devices of the fleet as JSON text, and their last 24 hours. */

import { expectedDefaultSeconds } from '../../analytics/reliability/freshness.ts'
import { threeHourChange, trendOf } from '../../analytics/summary/pressure-tendency.ts'
import { metrics } from '../../store/tables.ts'
import { type AirMetric, airMetrics, units } from '../series.ts'
import type { MetricDescription } from '../shapes/kinds.ts'
import { hourMs, hoursShown, valueAgeUsMax } from './device-hours.ts'
import type { DeviceState } from './device-state.ts'
import type { FleetTrends, LatestOfDevice } from './fleet-shape.ts'
import { columnKey, type LatestValue } from './latest-values.ts'
import type { LiveMetricsOf } from './live-rows.ts'

interface ShownValue {
  readonly name: string
  readonly key: number
  readonly unit: string
  /** Undefined for a built-in metric. */
  readonly description: MetricDescription | undefined
}

const builtIn = metrics.map(
  (name, column): ShownValue => ({ name, key: columnKey(column), unit: units[name], description: undefined }),
)

/** The values that are newer than this, in the display order of the device's metrics. */
function valuesOf({ device, values, lastUs }: DeviceState, metricsOf: LiveMetricsOf, newerThanUs: number) {
  const fromUs = Math.max(newerThanUs, lastUs - valueAgeUsMax)
  const found: { readonly metric: ShownValue; readonly last: LatestValue }[] = []
  for (const metric of values.hasSeries ? shownOf(metricsOf, device.number) : builtIn) {
    const last = values.get(metric.key)
    if (last !== undefined && last.timeUs > fromUs) found.push({ metric, last })
  }
  return found
}

function shownOf(metricsOf: LiveMetricsOf, number: number): ShownValue[] {
  return metricsOf(number).flatMap(({ name, description, series }) => {
    if (series !== undefined) return { name, key: series, unit: description.unit ?? '', description }
    return builtIn.find(metric => metric.name === name) ?? []
  })
}

export function latestOf(device: DeviceState, metricsOf: LiveMetricsOf): LatestOfDevice {
  const values: LatestOfDevice['values'] = {}
  const described: NonNullable<LatestOfDevice['metrics']> = {}
  for (const { metric, last } of valuesOf(device, metricsOf, Number.NEGATIVE_INFINITY)) {
    values[metric.name] = { v: last.value, ts: Math.floor(last.timeUs / 1000), unit: metric.unit }
    if (metric.description !== undefined) described[metric.name] = metric.description
  }
  const { name, location_short } = device.device
  return {
    ...{ device: name, location_short, state: device.state, last_seen: lastSeenOf(device), values },
    ...(Object.keys(described).length === 0 ? {} : { metrics: described }),
  }
}

function lastSeenOf({ lastUs }: DeviceState): number | null {
  return lastUs === Number.NEGATIVE_INFINITY ? null : Math.floor(lastUs / 1000)
}

export interface DeviceTexts {
  readonly nowMs: number
  readonly metricsOf: LiveMetricsOf
  /** Collects the custom metrics of the listed devices, by name. */
  readonly described: Map<string, MetricDescription>
}

/** The most values of a device in a list. */
const valuesMax = 6

export function deviceText({ nowMs, metricsOf, described }: DeviceTexts, state: DeviceState): string {
  const { device, cadence, hours } = state
  const shown = valuesOf(state, metricsOf, shownAfterUs(state, nowMs)).slice(0, valuesMax)
  let values = ''
  for (const { metric, last } of shown) {
    values += `${values === '' ? '' : ','}"${metric.name}":${last.value}`
    if (metric.description !== undefined) described.set(metric.name, metric.description)
  }
  return (
    `{"device":${JSON.stringify(device.name)},"location_short":${JSON.stringify(device.location_short)},` +
    (device.tags.length === 0 ? '' : `"tags":${JSON.stringify(device.tags)},`) +
    `"state":"${state.state}","last_seen":${lastSeenOf(state)},` +
    `"expected_interval_seconds":${expectedSecondsOf(state)},` +
    `"values":{${values}},"hours":"${hours.text(nowMs, cadence)}"}`
  )
}

function expectedSecondsOf({ cadence: { expectedMs } }: DeviceState): number | null {
  return expectedMs === null ? null : Math.round(expectedMs) / 1000
}

/** Lists show only values that are younger than max(5E, 1 h). */
function shownAfterUs(device: DeviceState, nowMs: number): number {
  const ageMsMax = Math.max(5000 * (expectedSecondsOf(device) ?? expectedDefaultSeconds), hourMs)
  return (nowMs - ageMsMax) * 1000
}

/** Smaller changes in three hours count as steady; for pressure, marine forecasts call them slow. */
const steadyMax: Record<AirMetric, number> = { temperature: 0.5, humidity: 3, pressure: 1.5 }

/** The hourly means of one metric of each device, and its trend. Devices without these metrics are left out. */
export function trendsOf(devices: readonly DeviceState[], nowMs: number): Omit<FleetTrends, 'generated_at'> {
  return {
    until: Math.floor(nowMs / hourMs) * hourMs,
    devices: devices.flatMap(device => trendOfDevice(device, nowMs) ?? []),
  }
}

function trendOfDevice(state: DeviceState, nowMs: number): FleetTrends['devices'][number] | undefined {
  const { device, hours, values } = state
  const metric = airMetrics[hours.metric ?? -1]
  if (metric === undefined) return undefined
  const presentHour = Math.floor(nowMs / hourMs)
  const means = Array.from({ length: hoursShown }, (_, place) => rounded(hours.mean(presentHour - hoursShown + place)))
  const last = values.get(columnKey(airMetrics.indexOf(metric)))
  const isShown = last !== undefined && last.timeUs > shownAfterUs(state, nowMs)
  const change = isShown ? threeHourChange(last.value, last.timeUs / 1000, hour => hours.mean(hour)) : Number.NaN
  const trend = Number.isNaN(change) ? null : trendOf(change, steadyMax[metric])
  return { device: device.name, metric, means, change: rounded(change), trend }
}

function rounded(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toFixed(2))
}
