/** Hourly means of a device, every gauge on the same grid of UTC hours, for the analyses by the hour. */

import { bridgedHours } from '../../analytics/time/fill-gaps.ts'
import { hoursOfDay, hoursOfWeek } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { metrics } from '../../store/tables.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { type CustomMetric, descriptionsOf } from '../custom-metric.ts'
import type { TaskContext } from '../task-context.ts'
import type { Asked, CustomHow } from './analysis.ts'
import { answerContext } from './answer-text.ts'

export type HoursQuery = CustomHow & Pick<Asked, 'device' | 'hourSources' | 'nowMs'>

/** Whole UTC hours. */
export interface HoursGrid {
  readonly startMs: number
  readonly hours: number
}

export interface GaugeHours {
  readonly grid: HoursGrid
  /** Keys are names, the five first. Each hour of the grid has one mean, NaN where missing. */
  readonly gauges: Readonly<Record<string, Float64Array>>
  /** The metrics beside the five. */
  readonly custom: readonly CustomMetric[]
}

export const hourMs = 3_600_000

/** Metrics of other kinds are left out. */
export async function readGaugeHours(
  { device, custom, hourSources }: Pick<HoursQuery, 'device' | 'custom' | 'hourSources'>,
  grid: HoursGrid,
  { source, measurements, inUnits, signal }: TaskContext,
): Promise<GaugeHours> {
  const fromUs = grid.startMs * 1000
  const toUs = fromUs + grid.hours * hourMs * 1000
  const known = await inUnits(custom, [{ fromUs, toUs }])
  const others = known.filter(({ kind }) => kind === 'gauge')
  const series = others.flatMap(one => one.series ?? [])
  const { expiredBeforeUs } = hourSources
  const [readings, values] = await Promise.all([
    source.hourly({ symbol: device.symbol, fromUs, toUs, ...hourSources }, signal),
    measurements.hours({ series, fromUs, toUs, expiredBeforeUs }, signal),
  ])
  const gauges: Record<string, Float64Array> = {}
  for (const name of metrics) gauges[name] = onGrid(grid, readings.startsMs, readings.metrics[name].mean)
  for (const one of others) {
    const found = values.get(one.series ?? Number.NaN)
    gauges[one.name] = onGrid(grid, found?.startsMs ?? noHours, found?.mean ?? noHours)
  }
  return { grid, gauges, custom: others }
}

export const noHours = new Float64Array(0)

/** One mean for each hour of the grid, NaN where there is none. Hours outside the grid have no effect. */
export function onGrid({ startMs, hours }: HoursGrid, startsMs: Float64Array, means: Float64Array): Float64Array {
  const cells = new Float64Array(hours).fill(Number.NaN)
  for (let row = 0; row < startsMs.length; row++) {
    cells[Math.floor(((startsMs[row] as number) - startMs) / hourMs)] = means[row] as number
  }
  return cells
}

/** Local hours 0 … 23 of the grid, and of `more` hours behind it. */
export function localHoursOf({ startMs, hours }: HoursGrid, local: LocalTime, more = 0): Uint8Array {
  return hoursOfDay(hoursOfWeek(startsOf({ startMs, hours: hours + more }), local))
}

export function startsOf({ startMs, hours }: HoursGrid): Float64Array {
  return Float64Array.from({ length: hours }, (_, hour) => startMs + hour * hourMs)
}

/**
 * The answer as JSON text: one part for each gauge, and descriptions of those beside the five. `partOf` gets bridged
 * hours.
 */
export function gaugesText(
  { device, nowMs, local }: { readonly device: AnalysedDevice; readonly nowMs: number; readonly local: LocalTime },
  { gauges, custom }: GaugeHours,
  partOf: (hourly: Float64Array, name: string) => object,
): string {
  const parts = Object.entries(gauges).map(([name, hourly]) => [name, partOf(bridgedHours(hourly), name)] as const)
  return JSON.stringify({
    device: device.name,
    ...answerContext(local, nowMs),
    ...Object.fromEntries(parts),
    ...(custom.length === 0 ? {} : { metrics: descriptionsOf(custom) }),
  })
}
