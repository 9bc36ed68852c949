/** Findings of the batteries of a device, by their daily means. */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import type { DailyMean } from '../../analytics/battery/line.ts'
import type { Finding } from '../../analytics/findings/finding.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { batteryDays, batteryFindingAt, columnBattery, knownBattery, lastFullHour } from '../findings/known-battery.ts'
import { type HourlyGauges, hourlyGauges } from './hourly-gauges.ts'

const hoursPerDay = 24
const hourMs = 3_600_000
interface BatteriesInput extends HourlyGauges<'battery_percentage' | 'battery_voltage'> {
  readonly device: Pick<AnalysedDevice, 'battery_type' | 'battery_cells'>
  readonly nowMs: number
}

/** Judges the two columns together, and each battery gauge beside the five. */
export function batteryFindings({ device, nowMs, ...input }: BatteriesInput): Finding[] {
  const { frame, means } = input.window.hourly
  const endHour = (lastFullHour(nowMs) - frame.startMs) / hourMs
  const { battery_type: type, battery_cells: cells } = device
  const ofColumns = columnBattery(
    { type, cells },
    {
      battery_percentage: daysOf(means.battery_percentage, endHour, 1),
      battery_voltage: daysOf(means.battery_voltage, endHour, 1),
    },
  )
  const ofGauges = hourlyGauges([], input).map(({ name, unit, hours }) => {
    const of = batteryMetricOf(name, unit)
    return of && knownBattery({ type, cells }, { metric: name, ...of }, daysOf(hours, endHour, of.scale))
  })
  return [ofColumns, ...ofGauges].flatMap(battery => (battery && batteryFindingAt(battery, nowMs)) ?? [])
}

/** Daily means with values, in volts or percent. The last day ends with `endHour`. */
function daysOf(hours: Float64Array, endHour: number, scale: number): DailyMean[] {
  return Array.from({ length: batteryDays }, (_, day) => {
    const to = endHour - (batteryDays - 1 - day) * hoursPerDay
    const part = hours.subarray(Math.max(0, to - hoursPerDay), Math.max(0, to)).filter(value => !Number.isNaN(value))
    return { day, mean: (scale * part.reduce((sum, value) => sum + value, 0)) / part.length }
  }).filter(({ mean }) => !Number.isNaN(mean))
}
