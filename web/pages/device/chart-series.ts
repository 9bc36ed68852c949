/** The lines of gauges over a range, and the points of a day of any kind. */

import type { RangeReadings } from '../../../api/read/readings-shape.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { type Detail, gaugeHoursOf, type LastValues, pointsOf } from './answers.ts'
import { column, type GaugeSeries, type LiveReading } from './series.ts'

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
