/** Merges rows from QuestDB into the state of the fleet, which may have changed meanwhile. */

import { customRow, deviceHours, deviceRow, hourRow, lastRow } from '../answers/fleet-rows.ts'
import { metricCount, noMetric } from './columns.ts'
import { chooseMetric, mergeMean, replaceMean } from './hour-means.ts'
import { hourUs, mergeCount, replaceCount } from './hours.ts'
import type { LiveFleet } from './live-fleet.ts'

/** `row` has the numbers of one device. A newer reading stays. */
export function mergeLast(fleet: LiveFleet, slot: number, row: Float64Array): void {
  const columns = fleet.columns()
  const timeUs = row[lastRow.timeUs] as number
  if (Number.isNaN(timeUs)) return
  const hour = Math.floor(timeUs / hourUs)
  if (hour < (columns.firstHour[slot] as number)) columns.firstHour[slot] = hour
  if (timeUs > (columns.lastUs[slot] as number)) columns.lastUs[slot] = timeUs
  if (timeUs > (columns.countedUs[slot] as number)) columns.countedUs[slot] = timeUs
  for (let metric = 0; metric < metricCount; metric++) {
    const value = row[lastRow.values + metric] as number
    const valueUs = row[lastRow.valuesUs + metric] as number
    const at = slot * metricCount + metric
    if (Number.isNaN(value) || valueUs <= (columns.valuesUs[at] as number)) continue
    columns.values[at] = value
    columns.valuesUs[at] = valueUs
  }
  chooseMetric(columns, slot)
}

/** `row` has the last value of a series, `devices` the numbers of devices by series. */
export function mergeCustom(fleet: LiveFleet, row: Float64Array, devices: ReadonlyMap<number, number>): void {
  const series = row[customRow.series] as number
  const slot = fleet.slotOf(devices.get(series) ?? Number.NaN)
  if (slot >= 0) fleet.custom.merge(slot, series, row[customRow.timeUs] as number, row[customRow.value] as number)
}

export function mergeHour(fleet: LiveFleet, slot: number, hour: number, row: Float64Array): void {
  const columns = fleet.columns()
  const count = row[hourRow.count] as number
  if (count <= 0) return
  if (hour < (columns.firstHour[slot] as number)) columns.firstHour[slot] = hour
  mergeCount(columns, slot, hour, count)
  const metric = columns.meanMetric[slot] as number
  if (metric === noMetric) return
  const [values, mean] = [row[hourRow.counts + metric] as number, row[hourRow.means + metric] as number]
  mergeMean(columns, slot, { hour, count: values, mean })
}

/** Merges a single device as QuestDB had it at `nowUs`. */
export function mergeDevice(fleet: LiveFleet, slot: number, row: Float64Array, nowUs: number): void {
  if (Number.isNaN(row[lastRow.timeUs] as number)) return
  const [kind, expectedMs, gapMs] = [row[deviceRow.kind], row[deviceRow.expectedMs], row[deviceRow.gapMs]]
  // Precedes the counts, which already use the new interval.
  fleet.estimated(slot, { kind: kind as number, expectedMs: expectedMs as number, gapMs: gapMs as number })
  mergeLast(fleet, slot, row)
  const columns = fleet.columns()
  const firstHour = row[deviceRow.firstHour] as number
  if (firstHour < (columns.firstHour[slot] as number)) columns.firstHour[slot] = firstHour
  const presentHour = Math.floor(nowUs / hourUs)
  for (let place = 0; place < deviceHours; place++) {
    const hour = presentHour - deviceHours + 1 + place
    const count = row[deviceRow.counts + place] as number
    if (Number.isNaN(count)) continue
    // The readings of the present hour may be in transit.
    const isExact = hour >= (row[deviceRow.exactFromHour] as number) && hour < presentHour
    if (isExact) replaceCount(columns, slot, hour, count)
    else mergeCount(columns, slot, hour, count)
    if (row[deviceRow.meanMetric] !== columns.meanMetric[slot]) continue
    const values = row[deviceRow.meanCounts + place] as number
    const one = { hour, count: values, mean: row[deviceRow.means + place] as number }
    if (isExact) replaceMean(columns, slot, one)
    else mergeMean(columns, slot, one)
  }
  fleet.update(slot)
}
