/** Fetches for `compare_data`: the newest reading of each device, and the hours of both before that. */

import type { CustomMetric } from '../custom-metric.ts'
import type { ComparedSamples } from '../kinds/compared-metric.ts'
import { customSamplesByHour } from '../kinds/custom-samples.ts'
import type { CustomSamples } from '../kinds/metric-samples.ts'
import type { HourlySeries } from '../series.ts'
import type { CompareQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildCompare, type CompareWindow, compareWindow } from './compare-answer.ts'

/** Stations are not compared. */
type CompareContext = Omit<TaskContext, 'inUnits'>
type Which = 'a' | 'b'

export async function answerCompare(query: CompareQuery, context: CompareContext): Promise<string> {
  const { a, b, startMs, withTimes, nowMs, newestUs, hourSources } = query
  const { source, local, signal } = context
  const isOne = a.symbol === b.symbol
  const lastReadingsMs: (number | undefined)[] = []
  const { expiredBeforeUs } = hourSources
  for (const which of isOne ? (['a'] as const) : (['a', 'b'] as const)) {
    const { symbol } = query[which]
    const lastUs =
      (await source.newestUs(symbol, newestUs, signal)) ??
      // The window ends at a full hour, so the expired hour is as exact as its reading was.
      (Number.isFinite(expiredBeforeUs) ? await source.newestExpiredHourUs(symbol, expiredBeforeUs, signal) : undefined)
    lastReadingsMs.push(lastUs === undefined ? undefined : lastUs / 1000)
  }
  const window = compareWindow(query, lastReadingsMs, nowMs)
  const range = { fromUs: window.startMs * 1000, toUs: window.endMs * 1000 }
  const readHours = (which: Which) => source.hourly({ symbol: query[which].symbol, ...range, ...hourSources }, signal)
  const hourlyOfA = await readHours('a')
  const hourlyOfB = isOne ? hourlyOfA : await readHours('b')
  const customOfA = await readCustom(query, 'a', window, hourlyOfA, context)
  const customOfB = await readCustom(query, 'b', window, hourlyOfB, context)
  return buildCompare({
    a: { device: a, hourly: hourlyOfA },
    b: { device: b, hourly: hourlyOfB },
    custom: customOfA.map((one, place) => ({ a: one, b: customOfB[place] as ComparedSamples })),
    preset: startMs === undefined ? query.preset : null,
    ...window,
    nowMs,
    local,
    withTimes,
  })
}

/** Hours of gauges are read from QuestDB, hours of other kinds are computed from all values. */
async function readCustom(
  query: CompareQuery,
  which: Which,
  { startMs, endMs }: CompareWindow,
  hourly: HourlySeries,
  context: CompareContext,
): Promise<ComparedSamples[]> {
  const metrics = query.custom.map(metric => metric[which])
  const { expiredBeforeUs } = query.hourSources
  const [fromUs, toUs] = [startMs * 1000, endMs * 1000]
  const series = metrics.flatMap(({ kind, series }) => (kind === 'gauge' ? (series ?? []) : []))
  const hours = await context.measurements.hours({ series, fromUs, toUs, expiredBeforeUs }, context.signal)
  const range = { fromUs, throughUs: toUs, untilUs: query.newestUs, expiredBeforeUs }
  const others = metrics.filter(({ kind }) => kind !== 'gauge')
  const byName = new Map<string, CustomSamples>()
  for (const samples of await customSamplesByHour(others, range, context)) byName.set(samples.metric.name, samples)
  return metrics.map(metric => {
    const ofColumn =
      metric.column === undefined ? undefined : { startsMs: hourly.startsMs, ...hourly.metrics[metric.column] }
    return {
      device: query[which],
      samples: byName.get(metric.name) ?? noSamples(metric),
      hours: metric.series === undefined ? ofColumn : hours.get(metric.series),
    }
  })
}

function noSamples(metric: CustomMetric): CustomSamples {
  return { metric, timesMs: new Float64Array(0), values: new Float64Array(0), speeds: undefined }
}
