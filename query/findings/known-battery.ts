/** A battery, judged by its daily means, in the same way for the page of a device and for the fleet. */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import { type BatteryOf, batteryState } from '../../analytics/battery/battery-state.ts'
import type { DailyMean } from '../../analytics/battery/line.ts'
import type { Finding } from '../../analytics/findings/finding.ts'
import { batteryFinding, type KnownBattery } from '../../analytics/findings/from-battery.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { type HourlyGauges, hourlyGauges } from '../stats/window.ts'

/** Stretches of 24 hours. The last one ends at the last full hour. */
export const batteryDays = 30

export interface MeasuredBattery extends KnownBattery {
  /** A value times this is in volts or percent. */
  readonly scale: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A device that is silent for longer has a finding about its silence instead. */
const silentDaysMax = 2

/** `means` are ascending, in volts or percent, for days from 0 up to `batteryDays`. */
export function knownBattery(
  { type, cells }: Pick<BatteryOf, 'type' | 'cells'>,
  { metric, kind, scale }: Pick<MeasuredBattery, 'metric' | 'kind' | 'scale'>,
  means: readonly DailyMean[],
): MeasuredBattery | undefined {
  const last = means.at(-1)
  if (last === undefined || last.day < batteryDays - silentDaysMax) return undefined
  const state = batteryState(means, { kind, type, cells })
  return state && { metric, kind, scale, state, sinceDays: batteryDays - 0.5 - last.day }
}

/** Daily means in percent and in volts, as `knownBattery` takes them; empty where the device does not send one. */
export interface ColumnMeans {
  readonly battery_percentage: readonly DailyMean[]
  readonly battery_voltage: readonly DailyMean[]
}

/**
 * Judges both columns and returns the worse state: a low level, or else the sooner date. Many devices compute the charge
 * along a line through the voltage, which is too high until shortly before the end.
 */
export function columnBattery(
  of: Pick<BatteryOf, 'type' | 'cells'>,
  { battery_percentage, battery_voltage }: ColumnMeans,
): MeasuredBattery | undefined {
  const charge = knownBattery(of, { metric: 'battery_percentage', kind: 'charge', scale: 1 }, battery_percentage)
  const voltage = knownBattery(of, { metric: 'battery_voltage', kind: 'voltage', scale: 1 }, battery_voltage)
  if (charge === undefined || voltage === undefined) return charge ?? voltage
  return daysOf(voltage) < daysOf(charge) ? voltage : charge
}

function daysOf({ state }: MeasuredBattery): number {
  return state.kind === 'days' ? state.daysLeft : 0
}

export function batteryFindingAt(battery: MeasuredBattery, nowMs: number): Finding | undefined {
  const endMs = lastFullHour(nowMs)
  return batteryFinding(battery, {
    firstDayMs: endMs - batteryDays * dayMs,
    countedFromMs: endMs - dayMs,
    scale: battery.scale,
  })
}

export function lastFullHour(nowMs: number): number {
  return Math.floor(nowMs / hourMs) * hourMs
}

const hoursPerDay = 24
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
      battery_percentage: dailyOf(means.battery_percentage, endHour, 1),
      battery_voltage: dailyOf(means.battery_voltage, endHour, 1),
    },
  )
  const ofGauges = hourlyGauges([], input).map(({ name, unit, hours }) => {
    const of = batteryMetricOf(name, unit)
    return of && knownBattery({ type, cells }, { metric: name, ...of }, dailyOf(hours, endHour, of.scale))
  })
  return [ofColumns, ...ofGauges].flatMap(battery => (battery && batteryFindingAt(battery, nowMs)) ?? [])
}

/** Daily means with values, in volts or percent. The last day ends with `endHour`. */
function dailyOf(hours: Float64Array, endHour: number, scale: number): DailyMean[] {
  return Array.from({ length: batteryDays }, (_, day) => {
    const to = endHour - (batteryDays - 1 - day) * hoursPerDay
    const part = hours.subarray(Math.max(0, to - hoursPerDay), Math.max(0, to)).filter(value => !Number.isNaN(value))
    return { day, mean: (scale * part.reduce((sum, value) => sum + value, 0)) / part.length }
  }).filter(({ mean }) => !Number.isNaN(mean))
}
