/** Fetches for `detail_data`: the readings of a day, the hours of a month, and the times before that day for the cadence. */

import { upperBound } from '../../analytics/lower-bound.ts'
import { customSamples, customSamplesByHour } from '../kinds/custom-samples.ts'
import type { CustomSamples } from '../kinds/metric-samples.ts'
import type { DetailQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildDetail, detailWindows } from './detail-answer.ts'
import type { DetailedMetric } from './detail-custom.ts'
import { earlierTimes } from './device-cadence.ts'

export async function answerDetail(query: DetailQuery, context: TaskContext): Promise<string> {
  const { device, nowMs, hourSources, custom: _, ...how } = query
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const { afterUs, throughUs, fromMs, toMs } = detailWindows(query)
  const [series, hourly, earlierMs, custom] = await Promise.all([
    source.series({ symbol, afterUs, throughUs, rowsMax }, signal),
    source.hourly({ symbol, fromUs: fromMs * 1000, toUs: toMs * 1000, ...hourSources }, signal),
    earlierTimes(device, afterUs, context),
    readCustom(query, context),
  ])
  return buildDetail({ device, series, earlierMs, hourly, custom, nowMs, local, ...how })
}

/** Hours of gauges are read from QuestDB; hours of other kinds are computed from the month's values. */
async function readCustom(query: DetailQuery, context: TaskContext): Promise<DetailedMetric[]> {
  const { hourSources } = query
  const { afterUs, throughUs, fromMs, toMs } = detailWindows(query)
  const { expiredBeforeUs } = hourSources
  const fromUs = fromMs * 1000
  const custom = await context.inUnits(query.custom, [{ fromUs, toUs: throughUs + 1 }])
  const gauges = custom.filter(({ kind }) => kind === 'gauge')
  const others = custom.filter(({ kind }) => kind !== 'gauge')
  const { measurements, signal } = context
  const hours = await measurements.hours(
    { series: gauges.flatMap(({ series }) => series ?? []), fromUs, toUs: toMs * 1000, expiredBeforeUs },
    signal,
  )
  const ofDay = await customSamples(gauges, { afterUs, throughUs }, undefined, context)
  const ofMonth = await customSamplesByHour(others, { fromUs, throughUs, expiredBeforeUs }, context)
  const detailed = new Map<string, DetailedMetric>()
  for (const day of ofDay) detailed.set(day.metric.name, { day, hours: hours.get(day.metric.series ?? Number.NaN) })
  for (const month of ofMonth) detailed.set(month.metric.name, { day: since(month, afterUs / 1000), month })
  return custom.flatMap(({ name }) => detailed.get(name) ?? [])
}

function since(samples: CustomSamples, afterMs: number): CustomSamples {
  const from = upperBound(samples.timesMs, afterMs)
  return {
    ...samples,
    timesMs: samples.timesMs.subarray(from),
    values: samples.values.subarray(from),
    speeds: samples.speeds?.subarray(from),
  }
}
