/** Devices of the fleet as JSON text. */

import { expectedDefaultSeconds } from '../analytics/reliability/freshness.ts'
import { units } from '../query/answers/units.ts'
import { type Metric, metrics } from '../store/tables.ts'
import { metricCount } from './columns.ts'
import type { LatestOfDevice } from './fleet-shape.ts'
import { hourMs, hoursText } from './hours.ts'
import type { LiveDevice, LiveFleet } from './live-fleet.ts'
import { type LiveState, liveStates } from './live-state.ts'

/** Of a metric that has been silent for longer than this before the last reading, nothing is told: it is not loaded either. */
const valueAgeUsMax = 24 * hourMs * 1000

export function latestOf(fleet: LiveFleet, slot: number): LatestOfDevice {
  const { name, location_short } = fleet.device(slot) as LiveDevice
  const values: LatestOfDevice['values'] = {}
  eachValue(fleet, slot, Number.NEGATIVE_INFINITY, (metric, v, us) => {
    values[metric] = { v, ts: Math.floor(us / 1000), unit: units[metric] }
  })
  return { device: name, location_short, state: stateOf(fleet, slot), last_seen: lastSeenOf(fleet, slot), values }
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

/** One device of a list. */
export function deviceText(fleet: LiveFleet, slot: number, nowMs: number): string {
  const { name, location_short } = fleet.device(slot) as LiveDevice
  const { expectedMs } = fleet.columns()
  const expectedSeconds = Math.round(expectedMs[slot] as number) / 1000
  const ageMsMax = Math.max(5000 * (Number.isNaN(expectedSeconds) ? expectedDefaultSeconds : expectedSeconds), hourMs)
  let values = ''
  eachValue(fleet, slot, (nowMs - ageMsMax) * 1000, (metric, value) => {
    values += `${values === '' ? '' : ','}"${metric}":${value}`
  })
  return (
    `{"device":${JSON.stringify(name)},"location_short":${JSON.stringify(location_short)},` +
    `"state":"${stateOf(fleet, slot)}","last_seen":${lastSeenOf(fleet, slot)},` +
    `"expected_interval_seconds":${Number.isNaN(expectedSeconds) ? null : expectedSeconds},` +
    `"values":{${values}},"hours":"${hoursText(fleet.columns(), slot, nowMs)}"}`
  )
}
