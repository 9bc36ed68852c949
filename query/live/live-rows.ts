/** Merges rows from QuestDB into the state of the fleet, which may have changed meanwhile. */

import { metrics } from '../../store/tables.ts'
import { cadenceKinds, customRow, deviceHours, deviceRow, hourRow, lastRow } from '../answers/fleet-rows.ts'
import type { MetricDescription } from '../shapes/kinds.ts'
import { hourUs } from './device-hours.ts'
import type { DeviceState } from './device-state.ts'
import { columnKey } from './latest-values.ts'
import type { LiveFleet } from './live-fleet.ts'

/** `row` has the numbers of one device. A newer reading stays. */
export function mergeLast(device: DeviceState, row: Float64Array): void {
  const timeUs = row[lastRow.timeUs] as number
  if (Number.isNaN(timeUs)) return
  device.hours.begin(Math.floor(timeUs / hourUs))
  device.mergeTime(timeUs)
  for (let column = 0; column < metrics.length; column++) {
    const [value, valueUs] = [row[lastRow.values + column] as number, row[lastRow.valuesUs + column] as number]
    device.values.merge(columnKey(column), valueUs, value)
  }
  device.hours.chooseMetric(device.values, device.lastUs)
}

/** `row` has the last value of a series, `devices` the numbers of devices by series. */
export function mergeCustom(fleet: LiveFleet, row: Float64Array, devices: ReadonlyMap<number, number>): void {
  const series = row[customRow.series] as number
  const device = fleet.get(devices.get(series) ?? Number.NaN)
  device?.values.merge(series, row[customRow.timeUs] as number, row[customRow.value] as number)
}

export function mergeHour({ hours }: DeviceState, hour: number, row: Float64Array): void {
  const count = row[hourRow.count] as number
  if (count <= 0) return
  hours.begin(hour)
  hours.setCount(hour, count, false)
  const { metric } = hours
  if (metric === undefined) return
  const [values, mean] = [row[hourRow.counts + metric] as number, row[hourRow.means + metric] as number]
  hours.setMean(hour, { count: values, mean }, false)
}

/** Merges a single device as QuestDB had it at `nowUs`. */
export function mergeDevice(fleet: LiveFleet, device: DeviceState, row: Float64Array, nowUs: number): void {
  if (Number.isNaN(row[lastRow.timeUs] as number)) return
  // Precedes the counts, which already use the new interval.
  device.estimated({
    kind: cadenceKinds[row[deviceRow.kind] as number] ?? 'unknown',
    expectedMs: numberOrNull(row[deviceRow.expectedMs]),
    gapMs: numberOrNull(row[deviceRow.gapMs]),
  })
  mergeLast(device, row)
  const { hours } = device
  hours.begin(row[deviceRow.firstHour] as number)
  const presentHour = Math.floor(nowUs / hourUs)
  for (let place = 0; place < deviceHours; place++) {
    const hour = presentHour - deviceHours + 1 + place
    const count = row[deviceRow.counts + place] as number
    if (Number.isNaN(count)) continue
    // The readings of the present hour may be in transit.
    const isExact = hour >= (row[deviceRow.exactFromHour] as number) && hour < presentHour
    hours.setCount(hour, count, isExact)
    if (row[deviceRow.meanMetric] !== hours.metric) continue
    const [values, mean] = [row[deviceRow.meanCounts + place] as number, row[deviceRow.means + place] as number]
    hours.setMean(hour, { count: values, mean }, isExact)
  }
  fleet.update(device)
}

function numberOrNull(number = Number.NaN): number | null {
  return Number.isNaN(number) ? null : number
}

/** Registry data of the metrics of devices; see service/live-metrics.ts. */
export interface LiveMetric {
  readonly name: string
  readonly description: MetricDescription
  /** The number of the series; undefined for a built-in metric, which has a column. */
  readonly series: number | undefined
}

/** All metrics of a device, by its number, in display order. */
export type LiveMetricsOf = (device: number) => readonly LiveMetric[]
