/** A device's local days: for each metric its means, its extremes with their times, its spread and its coverage. */

import { type Summary, summarise } from '../../analytics/summary/aggregates.ts'
import type { LocalDay } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { descriptionsOf } from '../custom-metric.ts'
import { type BucketContext, bucketFigures } from '../kinds/bucket-figures.ts'
import { metricCadence } from '../kinds/metric-cadence.ts'
import type { CustomSamples } from '../kinds/metric-samples.ts'
import { mapColumns } from '../map-columns.ts'
import type { Series } from '../series.ts'
import type { DailySummary } from '../shapes/daily.ts'
import { answerContext } from './answer-text.ts'
import { deviceCadence } from './device-cadence.ts'
import { airMetrics } from './units.ts'

const hourMs = 3_600_000

export interface DailyInput {
  readonly device: Pick<AnalysedDevice, 'name' | 'expected_interval_seconds'>
  /**
   * From the first day's start up to now, with the last reading before that: the first day's time-weighted mean begins
   * with the line that leads into it.
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
