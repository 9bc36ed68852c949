/** Where the lines of a range come from, and what becomes of the answers. */

import type { BuiltInMetric } from '../../../live/fleet-shape.ts'
import { builtInNames } from '../../text/quantities.ts'
import type { RangeReadings } from '../../../api/read/readings-shape.ts'
import type { ReadingEvent } from '../../../live/events/event-shape.ts'
import { isPreset, type Range, stepOf, type TimeWindow } from '../../charts/range.ts'
import type { Detail, LastValues } from './answers.ts'

export interface MetricSeries {
  readonly metric: BuiltInMetric
  /** Ascending, in milliseconds since 1970. */
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
  /** Extremes, where the values are means. */
  readonly extremes?: { readonly lows: readonly number[]; readonly highs: readonly number[] }
}

export interface RangeSeries {
  readonly series: readonly MetricSeries[]
  /** Lines are broken where points are further apart; null: nowhere. */
  readonly gapMs: number | null
  /** Of what each value is the mean; undefined for readings as they came. */
  readonly stepMs?: number
}

export type Source =
  | { readonly kind: 'day' }
  | { readonly kind: 'month' }
  /** `stepSeconds` undefined: every reading. */
  | { readonly kind: 'readings'; readonly window: TimeWindow; readonly stepSeconds: number | undefined }

/** As many points as a chart is wide, about. */
export const pointsMax = 800
const hourMs = 3_600_000

/** A device that reports more seldom than the step would be is asked for its readings as they came. */
export function sourceOf(range: Range, window: TimeWindow, expectedSeconds: number | null): Source {
  if (isPreset(range) && range.preset === '24h') return { kind: 'day' }
  if (isPreset(range) && range.preset === '30d') return { kind: 'month' }
  const stepSeconds = stepOf(window, pointsMax)
  const isSeldom = expectedSeconds !== null && stepSeconds <= expectedSeconds
  return {
    kind: 'readings',
    window: whole(window, stepSeconds * 1000),
    stepSeconds: isSeldom ? undefined : stepSeconds,
  }
}

/** Full steps: a range that ends now moves on by the minute, and keeps its answer for as long as it can. */
function whole({ fromMs, toMs }: TimeWindow, stepMs: number): TimeWindow {
  return { fromMs: Math.floor(fromMs / stepMs) * stepMs, toMs: Math.ceil(toMs / stepMs) * stepMs }
}

/** The query string of `/api/readings/<device>`. */
export function readingsQuery(
  { fromMs, toMs }: TimeWindow,
  stepSeconds: number | undefined,
  format: 'json' | 'csv',
): string {
  const step = stepSeconds === undefined ? '' : `&step=${stepSeconds}`
  return `start=${fromMs}&end=${toMs}${step}&format=${format}`
}

/** A reading that has just come. */
export type LiveReading = Pick<ReadingEvent['data'], 'ts' | 'values'>

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

/** The last day, and what has come since that was read. `live` is ascending. */
export function daySeries({ last_24h }: Detail, live: readonly LiveReading[]): RangeSeries {
  const series = builtInNames.map(metric => {
    const points = last_24h[metric]
    const timesMs = points.map(({ t }) => t)
    const values = points.map(({ v }) => v)
    for (const { ts, values: coming } of live) {
      const value = coming[metric]
      if (value === undefined || ts <= (timesMs.at(-1) ?? 0)) continue
      timesMs.push(ts)
      values.push(value)
    }
    return { metric, timesMs, values }
  })
  return { series: withValues(series), gapMs: inMs(last_24h.gap_seconds) }
}

export function monthSeries({ last_24h, last_30d_hourly }: Detail): RangeSeries {
  const series = builtInNames.map(metric => {
    const hours = last_30d_hourly[metric]
    return {
      metric,
      timesMs: hours.map(({ t }) => t),
      values: hours.map(({ mean }) => mean),
      extremes: { lows: hours.map(({ min }) => min), highs: hours.map(({ max }) => max) },
    }
  })
  return { series: withValues(series), gapMs: gapOfMeans(inMs(last_24h.gap_seconds), hourMs), stepMs: hourMs }
}

/** A row has a metric by its name, or the aggregates of a step as `temperature_mean`. */
export function readingsSeries(
  rows: RangeReadings,
  stepSeconds: number | undefined,
  gapSeconds: number | null,
): RangeSeries {
  const gapMs = inMs(gapSeconds)
  if (stepSeconds === undefined) {
    return { series: withValues(builtInNames.map(metric => ({ metric, ...column(rows, metric, metric) }))), gapMs }
  }
  const series = builtInNames.map(metric => {
    const mean = `${metric}_mean`
    const extremes = {
      lows: column(rows, `${metric}_min`, mean).values,
      highs: column(rows, `${metric}_max`, mean).values,
    }
    return { metric, ...column(rows, mean, mean), extremes }
  })
  const stepMs = stepSeconds * 1000
  return { series: withValues(series), gapMs: gapOfMeans(gapMs, stepMs), stepMs }
}

/** The values of one name, in the rows where `present` has a value. */
function column(rows: RangeReadings, name: string, present: string) {
  const has = rows.filter(row => row[present] !== undefined)
  return { timesMs: has.map(({ ts }) => ts), values: has.map(row => row[name] as number) }
}

const withValues = (series: readonly MetricSeries[]) => series.filter(({ timesMs }) => timesMs.length > 0)
const inMs = (seconds: number | null) => (seconds === null ? null : seconds * 1000)

/** Means are a step apart, and further where a device reports more seldom than that. */
function gapOfMeans(gapMs: number | null, stepMs: number): number {
  return Math.max(gapMs ?? 0, 1.5 * stepMs)
}
