/** Requests statistics of made readings and parses the answer like a client. */

import { createLocalTime, type LocalTime } from '../../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../../../query/analysed-device.ts'
import type { Series } from '../../../query/series.ts'
import { Stats } from '../../../query/shapes/stats.ts'
import { liveText } from '../../../query/stats/live.ts'
import { buildStats, type StatsInput } from '../../../query/stats/stats-answer.ts'
import { type Metric, metrics } from '../../../store/tables.ts'
import { validated } from '../../support/answer-shapes.ts'
import { plainDevice } from '../../support/plain-device.ts'

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

const utc = createLocalTime('UTC')

const device = plainDevice

type Columns = Partial<Record<Metric, (timeMs: number, place: number) => number>>

/** Readings at these times. Metrics that are not given are missing. */
export function seriesOf(timesMs: Iterable<number>, columns: Columns): Series {
  const times = Float64Array.from(timesMs)
  const missing = () => Number.NaN
  const column = (metric: Metric) => Float64Array.from(times, columns[metric] ?? missing)
  const values = Object.fromEntries(metrics.map(metric => [metric, column(metric)])) as Record<Metric, Float64Array>
  return { timesMs: times, values }
}

export function every(stepMs: number, startMs: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => startMs + index * stepMs)
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is read as a client reads it, without our types
export type Answer = any

export interface Question extends Partial<Omit<StatsInput, 'series' | 'device'>> {
  readonly series: Series
  readonly device?: Partial<AnalysedDevice>
  /** The time of the answer defaults to the time of the build. */
  readonly givenMs?: number
}

export function ask(query: Question): Answer {
  const local: LocalTime = query.local ?? utc
  const nowMs = query.nowMs ?? query.series.timesMs.at(-1) ?? 0
  const { head, live, tail } = buildStats({
    days: 30,
    stepSeconds: undefined,
    predecessorMs: undefined,
    custom: [],
    ...query,
    device: { ...device, ...query.device },
    nowMs,
    local,
  })
  // The worker clones its result.
  const text = head + liveText(structuredClone(live), query.givenMs ?? nowMs, local) + tail
  return validated(Stats, JSON.parse(text))
}

export function near(value: unknown, expected: number, tolerance: number): boolean {
  return typeof value === 'number' && Math.abs(value - expected) <= tolerance
}
