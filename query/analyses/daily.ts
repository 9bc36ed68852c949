/** `daily_summary`: local days, each with the means, extremes, spread and coverage of each metric. */

import { z } from 'zod'
import { type Summary, summarise } from '../../analytics/summary/aggregates.ts'
import { type LocalDay, localDays } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { type CustomSamples, descriptionsOf } from '../custom-metric.ts'
import { type BucketContext, bucketFigures } from '../kinds/bucket-figures.ts'
import { customSamples } from '../kinds/custom-samples.ts'
import { airMetrics, mapColumns, type Series } from '../series.ts'
import { DailySummary } from '../shapes/daily.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type AskedWindow, type CustomHow, defineAnalysis, newestUsOf } from './analysis.ts'
import { answerContext } from './answer-text.ts'
import { deviceCadence, earlierTimes, metricCadence } from './device-cadence.ts'
import { checkWindow, MetricNames, windowFields, windowOf } from './parameters.ts'

const daysUsual = 30
/** Longer ones run in the other pool, so that light queries do not wait for them. */
const lightDaysMax = 31

type DailyHow = CustomHow & AskedWindow

/** The last local days, including today unless the device has been silent since. */
export const dailyAnalysis = defineAnalysis({
  path: 'daily_summary',
  title: 'daily_summary',
  summary: noun => `A ${noun}, day by day`,
  parameters: z.object({ ...windowFields(1, daysUsual), metrics: MetricNames }).superRefine(checkWindow),
  answer: DailySummary.meta({ id: 'DailySummary' }),
  tooLarge: 'TOO_MANY_DAYS',
  always: airMetrics,
  how: asked => windowOf(asked, daysUsual),
  // Even a few days may exceed a light query when the device reports every second.
  pools: ({ days }: DailyHow) => (days > lightDaysMax ? ['long'] : ['light', 'long']),
  compute: (query: DailyHow & Asked, context) => answerDaily(query, context),
})

const dayMs = 86_400_000

async function answerDaily(query: DailyHow & Pick<Asked, 'device' | 'nowMs'>, context: TaskContext): Promise<string> {
  const { device, nowMs } = query
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const buckets = await daysOf(query, context)
  const beforeUs = (buckets[0]?.startMs ?? nowMs) * 1000 - 1
  const throughUs = newestUsOf(query.endMs, nowMs * 1000)
  // Units are read first: a later read of a station then includes parameters that occur only in these days.
  const metrics = await context.inUnits(query.custom, [{ fromUs: beforeUs + 1, toUs: throughUs + 1 }])
  const firstUs = (await source.newestUs(symbol, beforeUs, signal)) ?? beforeUs + 1
  const [series, earlierMs] = await Promise.all([
    source.series({ symbol, afterUs: firstUs - 1, throughUs, rowsMax }, signal),
    earlierTimes(device, firstUs - 1, context),
  ])
  const custom = await customSamples(metrics, { afterUs: firstUs - 1, throughUs }, series, context)
  return buildDaily({ device, series, earlierMs, custom, buckets, nowMs, local })
}

/**
 * The days of the window. Without a requested end, they end with the last reading of a device that has been silent
 * since.
 */
async function daysOf(
  query: DailyHow & Pick<Asked, 'device' | 'nowMs'>,
  { source, local, signal }: TaskContext,
): Promise<LocalDay[]> {
  const { device, days, startMs, endMs, nowMs } = query
  const untilMs = Math.min(nowMs, (endMs ?? Number.POSITIVE_INFINITY) - 1)
  if (startMs !== undefined) return daysFrom(startMs, untilMs, local)
  if (endMs !== undefined) return localDays(local, untilMs, days)
  const newestUs = await source.newestUs(device.symbol, nowMs * 1000, signal)
  return localDays(local, newestUs === undefined ? untilMs : newestUs / 1000, days)
}

function daysFrom(startMs: number, untilMs: number, local: LocalTime): LocalDay[] {
  // Days may be shorter than 24 hours.
  const count = Math.ceil(Math.max(0, untilMs - startMs) / dayMs) + 2
  return localDays(local, untilMs, count).filter(day => day.endMs > startMs)
}

const hourMs = 3_600_000

export interface DailyInput {
  readonly device: Pick<AnalysedDevice, 'name' | 'expected_interval_seconds'>
  /**
   * The series covers the range from the first day's start up to now, and the last reading before it. The first day's
   * time-weighted mean begins with the line that leads into it.
   */
  readonly series: Series
  /** Times of earlier readings, from `earlierTimes`. */
  readonly earlierMs: Float64Array
  /** Samples of the same range, in the answer's order. */
  readonly custom: readonly CustomSamples[]
  /** Local days; the last one counts up to now. */
  readonly buckets: readonly LocalDay[]
  readonly nowMs: number
  readonly local: LocalTime
}

/** A device's local days: for each metric its means, its extremes with their times, its spread and its coverage. */
export function buildDaily({ device, series, earlierMs, custom, buckets, nowMs, local }: DailyInput): string {
  const { timesMs, values } = series
  const cadence = deviceCadence(device, earlierMs, timesMs)
  const summaries = mapColumns(airMetrics, metric => {
    return summarise({ timesMs, values: values[metric], cadence, nowMs }, buckets)
  })
  const context = { cadence, nowMs, local }
  const figures = custom.map(samples => [samples.metric.name, customDays(samples, buckets, context)] as const)
  return JSON.stringify({
    device: device.name,
    ...answerContext(local, nowMs),
    days: buckets.map(({ date, startMs, endMs }: LocalDay, index) => ({
      date,
      hours: (endMs - startMs) / hourMs,
      ...mapColumns(airMetrics, metric => statisticsOf(summaries[metric][index] as Summary, local)),
      ...Object.fromEntries(figures.map(([name, days]) => [name, days[index]])),
    })),
    ...(custom.length === 0 ? {} : { metrics: descriptionsOf(custom.map(({ metric }) => metric)) }),
  } satisfies DailySummary)
}

function customDays(samples: CustomSamples, buckets: readonly LocalDay[], context: BucketContext) {
  if (samples.metric.kind !== 'gauge') return bucketFigures(samples, buckets, context)
  const { timesMs, values } = samples
  const cadence = metricCadence(timesMs, context.cadence)
  const summaries = summarise({ timesMs, values, cadence, nowMs: context.nowMs }, buckets)
  return summaries.map(summary => ({ kind: 'gauge' as const, ...statisticsOf(summary, context.local) }))
}

function statisticsOf({ min_at_ms, max_at_ms, ...summary }: Summary, local: LocalTime) {
  const { mean, min, max, std, count, coverage, valid, tw_mean, mean_of_hours } = summary
  const text = (timeMs: number | null) => (timeMs === null ? null : local.text(timeMs * 1000))
  const at = { min_at: text(min_at_ms), max_at: text(max_at_ms) }
  return { mean, min, max, ...at, std, count, coverage, valid, tw_mean, mean_of_hours }
}
