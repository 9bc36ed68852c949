/** Series of a device for charts over a range: their types, gauges, the points of a day, and suspect readings. */

import type { RangeReadings } from '../../../api/read/shapes.ts'
import type { ReadingEvent } from '../../../query/live/events/event-shape.ts'
import type { Stretch } from '../../charts/panel.ts'
import type { TimeWindow } from '../../charts/range.ts'
import type { Descriptions } from '../../text/quantities.ts'
import { dayMs } from '../../text/zone.ts'
import { type Detail, gaugeHoursOf, type LastValues, pointsOf } from './answers.ts'

export interface GaugeSeries {
  readonly kind: 'gauge'
  readonly metric: string
  /** Ascending, in milliseconds since 1970. */
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
  /** Extremes, where the values are means. */
  readonly extremes?: { readonly lows: readonly number[]; readonly highs: readonly number[] }
  /** The line is broken where points are further apart; null: nowhere. */
  readonly gapMs: number | null
}

export interface DirectionSeries {
  readonly kind: 'direction'
  readonly metric: string
  readonly timesMs: readonly number[]
  /** Degrees from north. */
  readonly values: readonly number[]
  /** The step of means; undefined for single values. */
  readonly stepMs: number | undefined
}

/** The increase of a counter, or the sum of a rate. */
export interface Amount extends Stretch {
  readonly value: number
  /** The part that a counter grew in a gap that ends here, at unknown times. */
  readonly ofGap: number
}

export interface AmountSeries {
  readonly kind: 'counter' | 'rate'
  readonly metric: string
  /** Ascending; bars without a known amount are left out. */
  readonly bars: readonly Amount[]
}

/** A state, from a share of the height of its stretch to another one: all of it in a timeline. */
export interface StateBlock extends Stretch {
  readonly state: number
  readonly low: number
  readonly high: number
}

export interface StateSeries {
  readonly kind: 'state'
  readonly metric: string
  /** Ascending; unknown states are left out. */
  readonly blocks: readonly StateBlock[]
  /** True for shares of hours or days, false for one state after the other. */
  readonly isShares: boolean
}

export type MetricSeries = GaugeSeries | DirectionSeries | AmountSeries | StateSeries

export interface RangeSeries {
  /** Series have the display order. Each has values. */
  readonly series: readonly MetricSeries[]
  /** The step of gauges' means; undefined for single readings. */
  readonly stepMs?: number | undefined
  /** Descriptions of metrics from the series' answers. */
  readonly described?: Descriptions | undefined
  /** The units that those without descriptions name: codes by metric. */
  readonly units?: Readonly<Record<string, string>> | undefined
}

/** A reading that has just come. */
export type LiveReading = Pick<ReadingEvent['data'], 'ts' | 'values'>

/** The values of one name, in the rows where `present` has a value. */
export function column(rows: RangeReadings, name: string, present = name) {
  const has = rows.filter(row => row[present] !== undefined)
  return { timesMs: has.map(({ ts }) => ts), values: has.map(row => row[name] as number) }
}

const hourMs = 3_600_000

/** The readings that have just come and the last values, by time: the answer of the day ends at a full minute. */
export function withLastValues(
  live: readonly LiveReading[],
  values: LastValues,
  { fromMs }: TimeWindow,
): readonly LiveReading[] {
  const last = Object.entries(values)
    .filter(([, { ts }]) => ts >= fromMs)
    .map(([metric, { v, ts }]) => ({ ts, values: { [metric]: v } }))
  return [...last, ...live].sort((a, b) => a.ts - b.ts)
}

/** The points of the last day and the later live readings. `live` is ascending. */
export function dayPoints(
  detail: Detail,
  metric: string,
  live: readonly LiveReading[],
): { readonly timesMs: number[]; readonly values: number[] } {
  const points = pointsOf(detail, metric)
  const timesMs = points.map(({ t }) => t)
  const values = points.map(({ v }) => v)
  for (const { ts, values: coming } of live) {
    const value = coming[metric]
    if (value === undefined || ts <= (timesMs.at(-1) ?? 0)) continue
    timesMs.push(ts)
    values.push(value)
  }
  return { timesMs, values }
}

/** A longer interval between two values breaks the line. */
export function gapMsOf({ metrics, last_24h }: Detail, metric: string): number | null {
  const own = metrics !== undefined && Object.hasOwn(metrics, metric) ? metrics[metric] : undefined
  return inMs(own === undefined ? last_24h.gap_seconds : own.gap_seconds)
}

export function daySeries(detail: Detail, metrics: readonly string[], live: readonly LiveReading[]): GaugeSeries[] {
  return withValues(
    metrics.map(metric => ({
      kind: 'gauge',
      metric,
      ...dayPoints(detail, metric, live),
      gapMs: gapMsOf(detail, metric),
    })),
  )
}

export function monthSeries(detail: Detail, metrics: readonly string[]): GaugeSeries[] {
  return withValues(
    metrics.map(metric => {
      const hours = gaugeHoursOf(detail, metric)
      return {
        kind: 'gauge',
        metric,
        timesMs: hours.map(({ t }) => t),
        values: hours.map(({ mean }) => mean),
        extremes: { lows: hours.map(({ min }) => min), highs: hours.map(({ max }) => max) },
        gapMs: gapOfMeans(gapMsOf(detail, metric), hourMs),
      }
    }),
  )
}

/** A row has a metric by its name, or the figures of a step as `temperature_mean`. `gapMs`: of each metric. */
export function readingsSeries(
  rows: RangeReadings,
  metrics: readonly string[],
  stepSeconds: number | undefined,
  gapMs: (metric: string) => number | null,
): GaugeSeries[] {
  return withValues(
    metrics.map(metric => {
      const common = { kind: 'gauge', metric } as const
      if (stepSeconds === undefined) return { ...common, ...column(rows, metric, metric), gapMs: gapMs(metric) }
      const mean = `${metric}_mean`
      const extremes = {
        lows: column(rows, `${metric}_min`, mean).values,
        highs: column(rows, `${metric}_max`, mean).values,
      }
      return { ...common, ...column(rows, mean, mean), extremes, gapMs: gapOfMeans(gapMs(metric), stepSeconds * 1000) }
    }),
  )
}

const withValues = (series: readonly GaugeSeries[]) => series.filter(({ timesMs }) => timesMs.length > 0)
const inMs = (seconds: number | null) => (seconds === null ? null : seconds * 1000)

/** Means are a step apart, and further where a device reports more seldom than that. */
function gapOfMeans(gapMs: number | null, stepMs: number): number {
  return Math.max(gapMs ?? 0, 1.5 * stepMs)
}

export interface SuspectReadings {
  /** Ascending, in milliseconds since 1970. */
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
}

/** Keys are metrics. */
export type Suspects = ReadonlyMap<string, SuspectReadings>

/** Empty where the window begins before the tested hours: a part would look complete. */
export function suspectsIn(
  detail: Detail | undefined,
  gauges: readonly string[],
  { fromMs, toMs }: TimeWindow,
  nowMs: number,
): Suspects {
  const found = new Map<string, SuspectReadings>()
  if (detail === undefined || fromMs < nowMs - dayMs) return found
  for (const metric of gauges) {
    const points = pointsOf(detail, metric).filter(point => 'flag' in point && point.t >= fromMs && point.t <= toMs)
    if (points.length === 0) continue
    found.set(metric, { timesMs: points.map(({ t }) => t), values: points.map(({ v }) => v) })
  }
  return found
}

/** The metrics that have a suspect reading, by the time of a row: of a reading, or of the step that it is in. */
export function suspectMetrics(suspects: Suspects, stepMs = 1): ReadonlyMap<number, readonly string[]> {
  const byTime = new Map<number, string[]>()
  for (const [metric, { timesMs }] of suspects) {
    for (const timeMs of timesMs) {
      const rowMs = Math.floor(timeMs / stepMs) * stepMs
      const before = byTime.get(rowMs) ?? []
      if (!before.includes(metric)) byTime.set(rowMs, [...before, metric])
    }
  }
  return byTime
}
