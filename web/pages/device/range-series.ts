/** Puts the series of a range together from the answers that its plan has asked for. */

import type { RangeReadings } from '../../../api/read/shapes.ts'
import type { DailySummary } from '../../../query/shapes/daily.ts'
import type { Stretch } from '../../charts/panel.ts'
import type { TimeWindow } from '../../charts/range.ts'
import type { Zone } from '../../text/zone.ts'
import type { Detail } from './answers.ts'
import {
  amountsOfDays,
  amountsOfHours,
  amountsOfSteps,
  directionsOfDays,
  directionsOfHours,
  directionsOfSteps,
} from './kind-series.ts'
import type { RangePlan } from './range-plan.ts'
import {
  type AmountSeries,
  type DirectionSeries,
  dayPoints,
  daySeries,
  type GaugeSeries,
  gapMsOf,
  type LiveReading,
  type MetricSeries,
  monthSeries,
  type RangeSeries,
  readingsSeries,
  type StateSeries,
} from './series.ts'
import type { ShownMetric } from './shown-metrics.ts'
import { holdOf, statesOfDay, statesOfDays, statesOfHours, statesOfSteps } from './state-series.ts'

/** Undefined while there has been no answer. */
export type Part<Answer> = Answer | 'unneeded' | undefined

export interface RangeParts {
  readonly plan: RangePlan
  readonly detail: Detail | undefined
  readonly parts: {
    readonly gauges: Part<RangeReadings>
    readonly steps: Part<RangeReadings>
    readonly states: Part<RangeReadings>
    readonly days: Part<DailySummary>
  }
  /** Unit codes of the readings by metric. */
  readonly units?: Readonly<Record<string, string>>
  /** Ascending. */
  readonly live: readonly LiveReading[]
  readonly metrics: readonly ShownMetric[]
  readonly window: TimeWindow
  readonly zone: Zone
}

type OtherSeries = Exclude<MetricSeries, GaugeSeries>

const monthStepMs = 3_600_000

/** Undefined while an answer is missing. */
export function rangeSeries(of: RangeParts): RangeSeries | undefined {
  const { plan, detail, parts, metrics } = of
  if (Object.values(parts).includes(undefined)) return undefined
  const others = metrics.some(({ kind }) => kind !== 'gauge')
  const needsDetail = plan.gauges.kind !== 'readings' || (others && plan.points.kind !== 'days')
  if (detail === undefined && needsDetail) return undefined
  const gauges = new Map(gaugesOf(of).map(series => [series.metric, series]))
  const series = metrics.flatMap((metric): MetricSeries[] => {
    const found = metric.kind === 'gauge' ? gauges.get(metric.name) : otherOf(of, metric)
    if (found === undefined) return []
    return found.kind === 'gauge' ? [found] : within(found, of.window)
  })
  const described = { ...detail?.metrics, ...answerOf(parts.days)?.metrics }
  return { series, stepMs: stepMsOf(plan), described, units: of.units }
}

function stepMsOf({ gauges }: RangePlan): number | undefined {
  if (gauges.kind === 'day') return undefined
  if (gauges.kind === 'month') return monthStepMs
  return gauges.stepSeconds === undefined ? undefined : gauges.stepSeconds * 1000
}

function gaugesOf({ plan: { gauges }, detail, parts, live, metrics }: RangeParts): GaugeSeries[] {
  const names = metrics.filter(({ kind }) => kind === 'gauge').map(({ name }) => name)
  if (gauges.kind === 'readings') {
    const gapMs = (metric: string) => (detail === undefined ? null : gapMsOf(detail, metric))
    return readingsSeries(answerOf(parts.gauges) ?? [], names, gauges.stepSeconds, gapMs)
  }
  if (detail === undefined) return []
  return gauges.kind === 'day' ? daySeries(detail, names, live) : monthSeries(detail, names)
}

function otherOf(of: RangeParts, { name, kind }: ShownMetric): OtherSeries | undefined {
  if (kind === 'counter' || kind === 'rate') return amountsOf(of, name, kind)
  return kind === 'state' ? statesOf(of, name) : directionsOf(of, name)
}

function amountsOf(
  { plan, detail, parts, zone }: RangeParts,
  metric: string,
  kind: AmountSeries['kind'],
): AmountSeries | undefined {
  const source = plan.amounts
  if (source.kind === 'days') return amountsOfDays(answerOf(parts.days)?.days ?? [], metric, kind, zone)
  if (source.kind === 'steps') return amountsOfSteps(answerOf(parts.steps) ?? [], metric, kind, source.stepSeconds)
  return detail && amountsOfHours(detail, metric, kind)
}

function directionsOf({ plan, detail, parts, live, zone }: RangeParts, metric: string): DirectionSeries | undefined {
  const source = plan.points
  if (source.kind === 'days' && plan.gauges.kind !== 'month') {
    return directionsOfDays(answerOf(parts.days)?.days ?? [], metric, zone)
  }
  if (source.kind === 'steps') return directionsOfSteps(answerOf(parts.steps) ?? [], metric, source.stepSeconds)
  if (detail === undefined) return undefined
  if (source.kind !== 'points') return directionsOfHours(detail, metric)
  return { kind: 'direction', metric, ...dayPoints(detail, metric, live), stepMs: undefined }
}

function statesOf({ plan, detail, parts, live, window, zone }: RangeParts, metric: string): StateSeries | undefined {
  const source = plan.points
  if (source.kind === 'days') return statesOfDays(answerOf(parts.days)?.days ?? [], metric, zone)
  const shown = { fromMs: window.fromMs, untilMs: window.toMs }
  if (source.kind === 'steps') {
    const rows = answerOf(parts.states) ?? []
    return statesOfSteps(rows, metric, source.stepSeconds * 1000, holdOf(detail, metric), shown)
  }
  if (detail === undefined) return undefined
  return source.kind === 'hours' ? statesOfHours(detail, metric) : statesOfDay(detail, metric, live, shown)
}

function answerOf<Answer>(part: Part<Answer>): Answer | undefined {
  return part === 'unneeded' ? undefined : part
}

/** The series' part in the range as a list; empty without values there. */
function within(series: OtherSeries, window: TimeWindow): OtherSeries[] {
  const isIn = ({ fromMs, toMs }: Stretch) => toMs > window.fromMs && fromMs < window.toMs
  if (series.kind === 'state') {
    const blocks = series.blocks.filter(isIn)
    return blocks.length === 0 ? [] : [{ ...series, blocks }]
  }
  if (series.kind !== 'direction') {
    const bars = series.bars.filter(isIn)
    return bars.length === 0 ? [] : [{ ...series, bars }]
  }
  return series.timesMs.some(atMs => isIn({ fromMs: atMs, toMs: atMs + 1 })) ? [series] : []
}
