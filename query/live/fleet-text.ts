/** Devices of the fleet as JSON text. */

import { expectedDefaultSeconds } from '../../analytics/reliability/freshness.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import { units } from '../answers/units.ts'
import type { MetricDescription } from '../shapes/kinds.ts'
import { metricCount } from './columns.ts'
import type { LatestOfDevice } from './fleet-shape.ts'
import { hourMs, hoursText, valueAgeUsMax } from './hours.ts'
import type { LiveDevice, LiveFleet } from './live-fleet.ts'
import type { LiveMetric, LiveMetricsOf } from './live-metrics.ts'
import { type LiveState, liveStates } from './live-state.ts'

export function latestOf(fleet: LiveFleet, slot: number, metricsOf: LiveMetricsOf): LatestOfDevice {
  const { number, name, location_short } = fleet.device(slot) as LiveDevice
  const values: LatestOfDevice['values'] = {}
  eachValue(fleet, slot, Number.NEGATIVE_INFINITY, (metric, v, us) => {
    values[metric] = { v, ts: Math.floor(us / 1000), unit: units[metric] }
  })
  const custom = fleet.custom.has(slot) ? withCustom(fleet, slot, values, metricsOf(number)) : { values }
  return { device: name, location_short, state: stateOf(fleet, slot), last_seen: lastSeenOf(fleet, slot), ...custom }
}

type LatestValues = Pick<LatestOfDevice, 'values' | 'metrics'>

/** Adds the values without a column and their descriptions, in the display order of the device's metrics. */
function withCustom(
  fleet: LiveFleet,
  slot: number,
  ofColumns: LatestOfDevice['values'],
  metricsOfDevice: readonly LiveMetric[],
): LatestValues {
  const fromUs = (fleet.columns().lastUs[slot] as number) - valueAgeUsMax
  const values: LatestOfDevice['values'] = {}
  const described: NonNullable<LatestOfDevice['metrics']> = {}
  for (const { name, description, series } of metricsOfDevice) {
    const ofColumn = ofColumns[name]
    if (ofColumn !== undefined) values[name] = ofColumn
    const timeUs = series === undefined ? Number.NEGATIVE_INFINITY : fleet.custom.timeUs(slot, series)
    if (series === undefined || timeUs <= fromUs) continue
    const unit = description.unit ?? ''
    values[name] = { v: fleet.custom.value(slot, series), ts: Math.floor(timeUs / 1000), unit }
    described[name] = description
  }
  return Object.keys(described).length === 0 ? { values: ofColumns } : { values, metrics: described }
}

export function stateOf(fleet: LiveFleet, slot: number): LiveState {
  return liveStates[fleet.columns().states[slot] as number] as LiveState
}

function lastSeenOf(fleet: LiveFleet, slot: number): number | null {
  const lastUs = fleet.columns().lastUs[slot] as number
  return lastUs === Number.NEGATIVE_INFINITY ? null : Math.floor(lastUs / 1000)
}

function eachValue(
  fleet: LiveFleet,
  slot: number,
  newerThanUs: number,
  take: (metric: Metric, value: number, timeUs: number) => void,
): void {
  const { lastUs, values, valuesUs } = fleet.columns()
  const fromUs = Math.max(newerThanUs, (lastUs[slot] as number) - valueAgeUsMax)
  for (const [index, metric] of metrics.entries()) {
    const at = slot * metricCount + index
    const timeUs = valuesUs[at] as number
    if (timeUs > fromUs) take(metric, values[at] as number, timeUs)
  }
}

export interface DeviceTexts {
  readonly fleet: LiveFleet
  readonly nowMs: number
  readonly metricsOf: LiveMetricsOf
  /** Collects the custom metrics of the listed devices, by name. */
  readonly described: Map<string, MetricDescription>
}

export function deviceText({ fleet, nowMs, metricsOf, described }: DeviceTexts, slot: number): string {
  const { number, name, location_short, tags } = fleet.device(slot) as LiveDevice
  const expectedSeconds = expectedSecondsOf(fleet, slot)
  const newerThanUs = shownAfterUs(fleet, slot, nowMs)
  const shown: string[] = []
  if (fleet.custom.has(slot)) {
    const first = firstOf(fleet, slot, newerThanUs, metricsOf(number))
    for (const [metric, value] of first) {
      shown.push(`"${metric.name}":${value}`)
      if (metric.series !== undefined) described.set(metric.name, metric.description)
    }
  } else {
    eachValue(fleet, slot, newerThanUs, (metric, value) => shown.push(`"${metric}":${value}`))
  }
  return (
    `{"device":${JSON.stringify(name)},"location_short":${JSON.stringify(location_short)},` +
    (tags.length === 0 ? '' : `"tags":${JSON.stringify(tags)},`) +
    `"state":"${stateOf(fleet, slot)}","last_seen":${lastSeenOf(fleet, slot)},` +
    `"expected_interval_seconds":${Number.isNaN(expectedSeconds) ? null : expectedSeconds},` +
    `"values":{${shown.join()}},"hours":"${hoursText(fleet.columns(), slot, nowMs)}"}`
  )
}

/** NaN while unknown. */
function expectedSecondsOf(fleet: LiveFleet, slot: number): number {
  return Math.round(fleet.columns().expectedMs[slot] as number) / 1000
}

/** Lists show only values that are younger than max(5E, 1 h). */
export function shownAfterUs(fleet: LiveFleet, slot: number, nowMs: number): number {
  const expectedSeconds = expectedSecondsOf(fleet, slot)
  const ageMsMax = Math.max(5000 * (Number.isNaN(expectedSeconds) ? expectedDefaultSeconds : expectedSeconds), hourMs)
  return (nowMs - ageMsMax) * 1000
}

/** The most values of a device in a list. */
const valuesMax = 6

/** The first values in the display order of the device's metrics. */
function firstOf(
  fleet: LiveFleet,
  slot: number,
  newerThanUs: number,
  metricsOfDevice: readonly LiveMetric[],
): [LiveMetric, number][] {
  const ofColumns = new Map<string, number>()
  eachValue(fleet, slot, newerThanUs, (metric, value) => void ofColumns.set(metric, value))
  const fromUs = Math.max(newerThanUs, (fleet.columns().lastUs[slot] as number) - valueAgeUsMax)
  return metricsOfDevice
    .flatMap((metric): [LiveMetric, number][] => {
      const { name, series } = metric
      const isFresh = series !== undefined && fleet.custom.timeUs(slot, series) > fromUs
      const value = isFresh ? fleet.custom.value(slot, series) : ofColumns.get(name)
      return value === undefined ? [] : [[metric, value]]
    })
    .slice(0, valuesMax)
}
