/**
 * Selects the source of a range's series: the loaded day or month, readings for any other range, and the summary's days
 * for amounts and states.
 */

import { isPreset, type Range, stepOf, type TimeWindow } from '../../charts/range.ts'
import { isBuiltIn } from '../../text/quantities.ts'
import { dayMs } from '../../text/zone.ts'
import type { Detail, Measured } from './answers.ts'
import type { ShownMetric } from './shown-metrics.ts'

/** The source of gauges. Without `stepSeconds`, each reading is a point. */
export type Source = { readonly kind: 'day' } | { readonly kind: 'month' } | ReadingsSource
interface ReadingsSource {
  readonly kind: 'readings'
  readonly window: TimeWindow
  readonly stepSeconds: number | undefined
}

/** The source of other kinds: points of the last day, hours of the month, local days, or buckets of readings. */
export type KindSource =
  | { readonly kind: 'points' }
  | { readonly kind: 'hours' }
  | { readonly kind: 'days'; readonly days: number }
  | { readonly kind: 'steps'; readonly window: TimeWindow; readonly stepSeconds: number }

/** The limit is about the width of a chart in points. */
export const pointsMax = 800
/** More bars are too narrow. */
const barsMax = 96
const hourMs = 3_600_000
/** A bar of a longer range is a day. */
const hoursSpanMsMax = 8 * dayMs
/** A bar of a shorter range is an hour, and wide. */
const hoursSpanMsMin = 12 * hourMs
/** The summary's days before today, as many as the month has. */
const daysMax = 366
const monthMs = 30 * dayMs
const spanMsMax = 366 * dayMs

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

/** The source of counters and rates. A bar spans at least two readings. */
export function amountSourceOf(window: TimeWindow, nowMs: number, expectedSeconds: number | null): KindSource {
  const spanMs = window.toMs - window.fromMs
  const ageMs = nowMs - window.fromMs
  if (spanMs > hoursSpanMsMax && ageMs <= (daysMax - 1) * dayMs) {
    return { kind: 'days', days: Math.min(daysMax, Math.ceil(ageMs / dayMs) + 1) }
  }
  if (spanMs >= hoursSpanMsMin && ageMs <= monthMs - hourMs) return { kind: 'hours' }
  const reportedSpanMs = 2 * (expectedSeconds ?? 0) * 1000 * barsMax
  const stepSeconds = stepOf({ fromMs: 0, toMs: Math.max(spanMs, reportedSpanMs) }, barsMax)
  return { kind: 'steps', window: whole(window, stepSeconds * 1000), stepSeconds }
}

/** The source of directions and states: the last day has all their values. */
export function pointSourceOf(window: TimeWindow, nowMs: number, expectedSeconds: number | null): KindSource {
  return nowMs - window.fromMs <= dayMs ? { kind: 'points' } : amountSourceOf(window, nowMs, expectedSeconds)
}

/** Full steps: a range that ends now moves on by the minute, and keeps its answer for as long as it can. */
function whole({ fromMs, toMs }: TimeWindow, stepMs: number): TimeWindow {
  return { fromMs: Math.floor(fromMs / stepMs) * stepMs, toMs: Math.ceil(toMs / stepMs) * stepMs }
}

/** The query string of a read of readings. `metrics` undefined: all. */
export function readingsQuery(
  { fromMs, toMs }: TimeWindow,
  stepSeconds: number | undefined,
  format: 'json' | 'csv',
  metrics?: readonly string[],
): string {
  const step = stepSeconds === undefined ? '' : `&step=${stepSeconds}`
  const only = metrics === undefined ? '' : `&metrics=${metrics.join(',')}`
  return `start=${fromMs}&end=${toMs}${step}&format=${format}${only}`
}

export interface RangePlan {
  readonly gauges: Source
  readonly amounts: KindSource
  readonly points: KindSource
  /** The path behind `/api/`; undefined where the loaded answers suffice. */
  readonly gaugePath: string | undefined
  readonly stepsPath: string | undefined
  readonly statesPath: string | undefined
  readonly daysPath: string | undefined
}

interface PlanOptions {
  readonly of: Measured
  readonly range: Range
  readonly window: TimeWindow
  readonly nowMs: number
  readonly expectedSeconds: number | null
  readonly metrics: readonly ShownMetric[]
  /** The custom metrics, as far as they are known. */
  readonly described: Detail['metrics']
}

export function planOf(options: PlanOptions): RangePlan {
  const { of, range, window, nowMs, expectedSeconds, metrics, described = {} } = options
  const gauges = sourceOf(range, window, expectedSeconds)
  const amounts = amountSourceOf(window, nowMs, expectedSeconds)
  const points = pointSourceOf(window, nowMs, expectedSeconds)
  const named = (...kinds: ShownMetric['kind'][]) =>
    metrics.filter(({ kind }) => kinds.includes(kind)).map(metric => metric.name)
  const readings = (source: Source | KindSource, only: readonly string[] | undefined) =>
    (source.kind === 'readings' || source.kind === 'steps') && only?.length !== 0
      ? of.pathOf('readings', readingsQuery(source.window, source.stepSeconds, 'json', only))
      : undefined
  // Without custom metrics, the answer has all metrics anyway.
  const hasCustom = Object.keys(described).length > 0 || metrics.some(({ name }) => !isBuiltIn(name))
  const holdsSeconds = named('state').map(state => described[state]?.hold_seconds ?? 0)
  const ofSteps = [
    ...(amounts.kind === 'steps' ? named('counter', 'rate') : []),
    ...(points.kind === 'steps' ? named('direction') : []),
  ]
  const ofDays = [
    ...(amounts.kind === 'days' ? named('counter', 'rate') : []),
    ...(points.kind === 'days' ? named('state') : []),
    // The month's hours are as many points as a chart is wide.
    ...(points.kind === 'days' && gauges.kind !== 'month' ? named('direction') : []),
  ]
  const days = amounts.kind === 'days' ? amounts.days : 0
  return {
    gauges,
    amounts,
    points,
    gaugePath: readings(gauges, hasCustom ? named('gauge') : undefined),
    stepsPath: readings(amounts, ofSteps),
    statesPath: readings(held(points, Math.max(0, ...holdsSeconds)), named('state')),
    daysPath: ofDays.length === 0 ? undefined : of.pathOf('daily_summary', `days=${days}&metrics=${ofDays.join(',')}`),
  }
}

/** The same with the time before it in which a state that still holds may have been sent. */
function held(source: KindSource, holdSeconds: number): KindSource {
  if (source.kind !== 'steps') return source
  const { fromMs, toMs } = source.window
  const stepMs = source.stepSeconds * 1000
  const startMs = Math.max(fromMs - Math.ceil((holdSeconds * 1000) / stepMs) * stepMs, toMs - spanMsMax)
  return { ...source, window: { fromMs: startMs, toMs } }
}
