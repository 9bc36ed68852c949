/** Findings of the batteries of a device, by the means of its days. */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import { batteryState } from '../../analytics/battery/battery-state.ts'
import type { DailyMean } from '../../analytics/battery/line.ts'
import type { Finding } from '../../analytics/findings/finding.ts'
import { batteryFinding } from '../../analytics/findings/from-battery.ts'
import type { GridFrame } from '../../analytics/time/grid.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { units } from '../answers/units.ts'
import type { FurtherSamples } from '../kinds/metric-samples.ts'
import type { StatsWindow } from './window.ts'

const hoursPerDay = 24
const hourMs = 3_600_000
const dayMs = hoursPerDay * hourMs
const daysMax = 30
/** A device that has been silent for longer is told of by that. */
const silentDaysMax = 2
/** In order of preference: a charge needs no type of battery. */
const ofColumns = ['battery_percentage', 'battery_voltage'] as const
type Column = (typeof ofColumns)[number]

interface BatteriesInput {
  readonly window: {
    readonly hourly: { readonly frame: GridFrame; readonly means: Readonly<Record<Column, Float64Array>> }
    readonly further: readonly Pick<StatsWindow['further'][number], 'name' | 'hours'>[]
  }
  readonly further: readonly { readonly metric: Pick<FurtherSamples['metric'], 'name' | 'unit'> }[]
  readonly device: Pick<AnalysedDevice, 'battery_type' | 'battery_cells'>
  readonly nowMs: number
}

/** Of the first of the two columns that has values, and of each gauge beside the five that is of a battery. */
export function batteryFindings({ window, further, device, nowMs }: BatteriesInput): Finding[] {
  const { frame, means } = window.hourly
  const endMs = frame.startMs + frame.cells * frame.stepMs
  if (frame.stepMs !== hourMs || nowMs - endMs > silentDaysMax * dayMs) return []
  const column = ofColumns.find(name => means[name].some(value => !Number.isNaN(value)))
  const unitsOf = new Map(further.map(({ metric }) => [metric.name, metric.unit]))
  const gauges = [
    ...(column === undefined
      ? []
      : [{ name: column as string, unit: units[column] as string | null, hours: means[column] }]),
    ...window.further.map(({ name, hours }) => ({ name, unit: unitsOf.get(name) ?? null, hours })),
  ]
  return gauges.flatMap(({ name, unit, hours }) => {
    const { kind, scale } = batteryMetricOf(name, unit) ?? {}
    if (kind === undefined || scale === undefined) return []
    const days = daysOf(hours, scale)
    const { battery_type: type, battery_cells: cells } = device
    const state = batteryState(days, { kind, type, cells })
    const last = days.at(-1)
    if (state === undefined || last === undefined) return []
    const firstDayMs = endMs - daysMax * dayMs
    const sinceDays = (nowMs - firstDayMs) / dayMs - last.day - 0.5
    const battery = { metric: name, kind, state, sinceDays }
    return batteryFinding(battery, { firstDayMs, toldMs: endMs - dayMs, scale }) ?? []
  })
}

/** Of the 30 days of 24 hours that end with the last hour, those with values: in volts or percent. */
function daysOf(hours: Float64Array, scale: number): DailyMean[] {
  return Array.from({ length: daysMax }, (_, day) => {
    const to = hours.length - (daysMax - 1 - day) * hoursPerDay
    const part = hours.subarray(Math.max(0, to - hoursPerDay), Math.max(0, to)).filter(value => !Number.isNaN(value))
    return { day, mean: (scale * part.reduce((sum, value) => sum + value, 0)) / part.length }
  }).filter(({ mean }) => !Number.isNaN(mean))
}
