/** Common inputs of the statistics: the window's readings, their cadence and their means on two grids. */

import type { BeyondDay } from '../../analytics/correlation/beyond-day.ts'
import { type SeriesTransform, seriesTransform } from '../../analytics/correlation/block-spectra.ts'
import { lowerBound, upperBound } from '../../analytics/lower-bound.ts'
import { withoutErrors } from '../../analytics/quality/quality-limits.ts'
import { type Cadence, cadenceOf } from '../../analytics/reliability/cadence.ts'
import { dewPoints } from '../../analytics/summary/derived.ts'
import { type Moments, momentsOf } from '../../analytics/summary/moments.ts'
import { bridgeShortGaps } from '../../analytics/time/fill-gaps.ts'
import { binMeans, frameOf, type GridFrame, gridStepMs } from '../../analytics/time/grid.ts'
import { hoursOfDay, hoursOfWeek } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import type { CustomSamples } from '../custom-metric.ts'
import { mapColumns, type Quantity, quantities, type Series, units } from '../series.ts'

const hourMs = 3_600_000
export const dayMs = 24 * hourMs

type Columns = Readonly<Record<Quantity, Float64Array>>

/** Cells of a grid from the first reading of any metric to the last. */
interface Grid {
  /** Empty without a reading. */
  readonly frame: GridFrame
  readonly means: Columns
}

export interface StatsWindow {
  readonly days: number
  /** The window is (start, last reading], or begins at the requested start; null without a reading. */
  readonly startMs: number | null
  readonly lastMs: number | null
  /** The device is younger than the window, by more than one interval. */
  readonly truncated: boolean
  readonly cadence: Cadence
  readonly local: LocalTime
  /** The window's readings, ascending. */
  readonly timesMs: Float64Array
  readonly values: Columns
  /** The local hour of the week of each reading. */
  readonly weekHours: Uint8Array
  /** Gauges beside the five. */
  readonly custom: readonly StatsColumn[]
  readonly fine: Grid
  readonly fineMoments: Readonly<Record<Quantity, Moments>>
  /** Hourly. Where the step of the fine grid is longer, the hours between its readings are filled as its cells are. */
  readonly hourly: Grid
  /** The local hour of the day of each of its cells. */
  readonly localHours: Uint8Array
}

export interface StatsColumn {
  readonly name: string
  /**
   * One for each reading of the window, NaN where missing; for a custom gauge also where the number is an error code.
   */
  readonly values: Float64Array
  /** The unmodified values. */
  readonly read: Float64Array
  /** Means and moments of the cells of the fine grid. */
  readonly cells: Float64Array
  readonly cellMoments: Moments
  readonly hours: Float64Array
}

export interface WindowInput {
  readonly series: Series
  /** Values of gauges beside the five, one for each reading of the series. */
  readonly gauges: Readonly<Record<string, Float64Array>>
  /** The reading before the series; undefined when it begins with the device's first. */
  readonly predecessorMs: number | undefined
  readonly days: number
  /** The default is some days before the last reading. */
  readonly fromMs?: number | undefined
  /** The grid's step; by default from the cadence. */
  readonly stepSeconds: number | undefined
  readonly expectedIntervalSeconds: number | null
  readonly local: LocalTime
}

export function windowOf(input: WindowInput): StatsWindow {
  const { series, gauges, predecessorMs, days, fromMs, stepSeconds, expectedIntervalSeconds, local } = input
  const cadence = cadenceOf(series.timesMs, expectedIntervalSeconds === null ? null : expectedIntervalSeconds * 1000)
  const from = firstRow(series.timesMs, days, fromMs)
  const timesMs = series.timesMs.subarray(from)
  const lastMs = timesMs.at(-1) ?? null
  const startMs = lastMs === null ? null : (fromMs ?? lastMs - days * dayMs)
  const measured = mapColumns(metrics, metric => series.values[metric].subarray(from))
  const values = { ...measured, dew_point: dewPoints(measured.temperature, measured.humidity) }
  const stepMs = stepSeconds === undefined ? stepOf(cadence, timesMs) : stepSeconds * 1000
  const meansOf = (column: Float64Array, frame: GridFrame) => {
    const means = binMeans(timesMs, column, frame)
    if (frame.stepMs < hourMs || stepMs > hourMs) bridgeCells(means, frame, cadence)
    return means
  }
  const fine = gridOf(timesMs, values, stepMs, meansOf)
  const hourly = gridOf(timesMs, values, hourMs, meansOf)
  const columnFrom = (name: string, read: Float64Array): StatsColumn => {
    const column = withoutErrors(read)
    const cells = meansOf(column, fine.frame)
    const hours = meansOf(column, hourly.frame)
    return { name, values: column, read, cells, cellMoments: momentsOf(cells), hours }
  }
  return {
    days,
    startMs,
    lastMs,
    truncated: isTruncated(cadence, startMs, from === 0 && predecessorMs === undefined ? timesMs[0] : undefined),
    cadence,
    local,
    timesMs,
    values,
    weekHours: hoursOfWeek(timesMs, local),
    custom: Object.entries(gauges).map(([name, column]) => columnFrom(name, column.subarray(from))),
    fine,
    fineMoments: mapColumns(quantities, quantity => momentsOf(fine.means[quantity])),
    hourly,
    localHours: localHoursOf(hourly.frame, local),
  }
}

function firstRow(timesMs: Float64Array, days: number, fromMs: number | undefined): number {
  const lastMs = timesMs.at(-1)
  if (lastMs === undefined) return 0
  return fromMs === undefined ? upperBound(timesMs, lastMs - days * dayMs) : lowerBound(timesMs, fromMs)
}

/** `firstMs` is the device's first reading, undefined when that is before the window. */
function isTruncated({ expectedMs }: Cadence, startMs: number | null, firstMs: number | undefined): boolean {
  return startMs !== null && firstMs !== undefined && firstMs - startMs > (expectedMs ?? 0)
}

function stepOf(cadence: Cadence, timesMs: Float64Array): number {
  const [firstMs, lastMs] = [timesMs[0] ?? 0, timesMs.at(-1) ?? 0]
  return gridStepMs(usualInterval(cadence, firstMs, lastMs), firstMs, lastMs)
}

/** The interval that holds for three quarters of the time: on its grid most cells have a reading. */
function usualInterval({ stretches }: Cadence, firstMs: number, lastMs: number): number | null {
  const parts = stretches.map(({ fromMs, expectedMs }, place) => {
    const untilMs = Math.min(lastMs, stretches[place + 1]?.fromMs ?? lastMs)
    return { expectedMs, lengthMs: Math.max(0, untilMs - Math.max(firstMs, fromMs)) }
  })
  let coveredMs = 0
  for (const { expectedMs, lengthMs } of parts.sort((a, b) => a.expectedMs - b.expectedMs)) {
    coveredMs += lengthMs
    if (coveredMs >= usualShare * (lastMs - firstMs)) return expectedMs
  }
  return null
}
const usualShare = 0.75

function gridOf(
  timesMs: Float64Array,
  values: Columns,
  stepMs: number,
  meansOf: (column: Float64Array, frame: GridFrame) => Float64Array,
): Grid {
  const [firstMs, lastMs] = [timesMs[0], timesMs.at(-1)]
  const isEmpty = firstMs === undefined || lastMs === undefined
  const frame = isEmpty ? { stepMs, startMs: 0, cells: 0 } : frameOf(firstMs, lastMs, stepMs)
  return { frame, means: mapColumns(quantities, quantity => meansOf(values[quantity], frame)) }
}

/** The unit is expected intervals, because G of an irregular device may be hours. */
const bridgedIntervals = 2.5

/** A device whose clock is a second off leaves a cell empty every hour, which would look like a cycle. */
function bridgeCells(cells: Float64Array, { startMs, stepMs }: GridFrame, { stretches }: Cadence): void {
  bridgeShortGaps(cells, place => {
    const timeMs = startMs + (place + 0.5) * stepMs
    const stretch = stretches.findLast(({ fromMs }) => fromMs <= timeMs)
    return stretch === undefined ? 0 : Math.min(stretch.gapMs, bridgedIntervals * stretch.expectedMs) / stepMs
  })
}

export function cellMiddles(frame: GridFrame): Float64Array {
  return cellTimes(frame, frame.stepMs / 2)
}

/** The local hour of the day of each cell. */
export function localHoursOf(frame: GridFrame, local: LocalTime): Uint8Array {
  return hoursOfDay(hoursOfWeek(cellTimes(frame, 0), local))
}

function cellTimes({ startMs, stepMs, cells }: GridFrame, afterMs: number): Float64Array {
  const timesMs = new Float64Array(cells)
  for (let cell = 0; cell < cells; cell++) timesMs[cell] = startMs + cell * stepMs + afterMs
  return timesMs
}

function columnOf({ values, fine, fineMoments, hourly }: StatsWindow, name: Quantity): StatsColumn {
  const [cells, cellMoments] = [fine.means[name], fineMoments[name]]
  return { name, values: values[name], read: values[name], cells, cellMoments, hours: hourly.means[name] }
}

/** The five metrics, the dew point and the custom gauges. */
export function quantityColumns(window: StatsWindow): StatsColumn[] {
  return [...quantities.map(name => columnOf(window, name)), ...window.custom]
}

/** One value for each of the five metrics, and one for each custom gauge under its name. */
export function byMetric<Value>(window: StatsWindow, ofColumn: (column: StatsColumn) => Value): Record<Metric, Value> {
  const columns = [...metrics.map(name => columnOf(window, name)), ...window.custom]
  return Object.fromEntries(columns.map(column => [column.name, ofColumn(column)])) as Record<Metric, Value>
}

/** Each name has a value, which is undefined for constant series and series without values. */
export type Transforms = ReadonlyMap<string, SeriesTransform | undefined>

/** Transforms of the series without their daily mean course, in which lags are searched. */
export function transformsBeyondDay(window: StatsWindow, { rest }: BeyondDay, whole: Transforms): Transforms {
  const lagMax = lagMaxOf(window)
  const made = quantityColumns(window).map(({ name, cells }) => {
    const left = rest(cells)
    // The masks are shared, because the same cells are missing; transforming one takes as long as the values.
    return [name, left && seriesTransform(left, lagMax, [whole.get(name)])] as const
  })
  return new Map(made)
}

/** Supports lags of up to a day between two of them. */
export function transformsOf(window: StatsWindow): Transforms {
  const lagMax = lagMaxOf(window)
  const made: (SeriesTransform | undefined)[] = []
  const transforms = quantityColumns(window).map(({ name, cells, cellMoments }) => {
    const transform = seriesTransform(cells, lagMax, made, cellMoments)
    made.push(transform)
    return [name, transform] as const
  })
  return new Map(transforms)
}

function lagMaxOf({ fine: { frame } }: StatsWindow): number {
  return Math.max(0, Math.min(Math.floor(dayMs / frame.stepMs), frame.cells - 1))
}

interface HourlyGauge {
  readonly name: string
  readonly unit: string | null
  readonly hours: Float64Array
}

export interface HourlyGauges<Column extends Metric> {
  readonly window: {
    readonly hourly: Pick<StatsWindow['hourly'], 'frame'> & { readonly means: Readonly<Record<Column, Float64Array>> }
    readonly custom: readonly Pick<StatsWindow['custom'][number], 'name' | 'hours'>[]
  }
  readonly custom: readonly { readonly metric: Pick<CustomSamples['metric'], 'name' | 'unit'> }[]
}

/** Some of the five first, then each gauge beside them. */
export function hourlyGauges<Column extends Metric>(
  columns: readonly Column[],
  { window, custom }: HourlyGauges<Column>,
): HourlyGauge[] {
  const unitsOf = new Map(custom.map(({ metric }) => [metric.name, metric.unit]))
  return [
    ...columns.map(name => ({ name, unit: units[name], hours: window.hourly.means[name] })),
    ...window.custom.map(({ name, hours }) => ({ name, unit: unitsOf.get(name) ?? null, hours })),
  ]
}
