/** `past_window_data`: today beside the same hours of earlier days, five local days to be laid over each other. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import { orNull } from '../../analytics/present.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { type LocalDay, type LocalHour, localDays, localHours } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { type CustomSamples, descriptionsOf } from '../custom-metric.ts'
import { type BucketContext, bucketFigures } from '../kinds/bucket-figures.ts'
import { customSamples } from '../kinds/custom-samples.ts'
import { airMetrics, mapColumns, type Series } from '../series.ts'
import { PastDays } from '../shapes/past.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type CustomHow, defineAnalysis, newestUsOf } from './analysis.ts'
import { answerContext } from './answer-text.ts'
import { deviceCadence, earlierTimes } from './device-cadence.ts'
import { MomentParameters, momentHow } from './parameters.ts'

export const pastAnalysis = defineAnalysis({
  path: 'past_window_data',
  title: 'past_days',
  summary: () => 'Today, yesterday and the days 7, 30 and 365 days ago, hour by hour',
  description: 'With end, today is the day before that moment.',
  parameters: MomentParameters,
  answer: PastDays.meta({ id: 'PastDays' }),
  always: airMetrics,
  how: momentHow,
  pools: ['light'],
  compute: (query: CustomHow & Asked, context) => answerPast(query, context),
})

async function answerPast(
  { device, nowMs, ...query }: CustomHow & Pick<Asked, 'device' | 'nowMs'>,
  context: TaskContext,
): Promise<string> {
  const { source, local, signal, rowsMax } = context
  // The end of a range is not included, so it may belong to another day.
  const asked = pastDays(local, Math.min(nowMs, (query.endMs ?? Number.POSITIVE_INFINITY) - 1))
  const ranges = asked.map(({ startMs, endMs }) => ({ fromUs: startMs * 1000, toUs: endMs * 1000 }))
  const custom = await context.inUnits(query.custom, ranges)
  const days: PastInput['days'][number][] = []
  for (const day of asked) {
    const afterUs = day.startMs * 1000 - 1
    const endUs = Math.min(day.endMs, query.endMs ?? day.endMs) * 1000
    const series = await source.series({ symbol: device.symbol, afterUs, throughUs: endUs - 1, rowsMax }, signal)
    // An amount that is dated with the end of the day belongs to that day.
    const range = { afterUs, throughUs: endUs < day.endMs * 1000 ? endUs - 1 : endUs, untilUs: nowMs * 1000 }
    const samples = await customSamples(custom, range, series, context)
    days.push({ ...day, series, custom: samples })
  }
  // Without custom metrics the answer does not depend on the device's interval.
  const timesMs =
    custom.length === 0
      ? new Float64Array(0)
      : await earlierTimes(device, newestUsOf(query.endMs, nowMs * 1000), context)
  return buildPast({ device, days, timesMs, nowMs, local })
}

/** Distance of each of the answer's days from today, in calendar days. */
const offsetDays = { today: 0, yesterday: 1, '7d': 7, '30d': 30, '365d': 365 }

interface PastDay extends LocalDay {
  readonly key: keyof typeof offsetDays
}

/** The five days, in the answer's order. */
export function pastDays(local: LocalTime, nowMs: number): PastDay[] {
  const days = localDays(local, nowMs, offsetDays['365d'] + 1)
  const keys = Object.keys(offsetDays) as PastDay['key'][]
  return keys.map(key => ({ key, ...(days.at(-1 - offsetDays[key]) as LocalDay) }))
}

interface PastInput {
  readonly device: Pick<AnalysedDevice, 'name' | 'expected_interval_seconds'>
  /** The days of `pastDays`, each with its readings and the same custom metrics. */
  readonly days: readonly (PastDay & { readonly series: Series; readonly custom: readonly CustomSamples[] })[]
  /** Times of the newest readings, from `earlierTimes`. */
  readonly timesMs: Float64Array
  readonly nowMs: number
  readonly local: LocalTime
}

export function buildPast({ device, days, timesMs, nowMs, local }: PastInput): string {
  const context = { cadence: deviceCadence(device, new Float64Array(0), timesMs), nowMs, local }
  const dayOf = (day: PastInput['days'][number]) => ({
    date: day.date,
    offset_days: offsetDays[day.key],
    hours: hoursOf(day, context),
  })
  const metrics = descriptionsOf(days[0]?.custom.map(({ metric }) => metric) ?? [])
  return JSON.stringify({
    device: device.name,
    ...answerContext(local, nowMs),
    ...(Object.fromEntries(days.map(day => [day.key, dayOf(day)])) as Record<PastDay['key'], ReturnType<typeof dayOf>>),
    ...(Object.keys(metrics).length === 0 ? {} : { metrics }),
  } satisfies PastDays)
}

/** A future hour is empty like any other. */
function hoursOf(day: PastInput['days'][number], context: BucketContext): PastDays['today']['hours'] {
  const hours = localHours(context.local, day)
  const custom = day.custom.map(samples => [samples.metric.name, customHours(samples, hours, context)] as const)
  return hours.map((hour, place) => ({
    hour: hour.hour,
    d: hour.text,
    ...mapColumns(airMetrics, metric => statisticsOf(day.series.timesMs, day.series.values[metric], hour)),
    ...Object.fromEntries(custom.map(([name, figures]) => [name, figures[place]])),
  }))
}

function customHours(samples: CustomSamples, hours: readonly LocalHour[], context: BucketContext) {
  if (samples.metric.kind !== 'gauge') return bucketFigures(samples, hours, context)
  const { timesMs, values } = samples
  return hours.map(hour => ({ kind: 'gauge' as const, ...statisticsOf(timesMs, values, hour) }))
}

function statisticsOf(timesMs: Float64Array, values: Float64Array, { startMs, endMs }: LocalHour) {
  const { mean, min, max, count } = momentsOf(values, lowerBound(timesMs, startMs), lowerBound(timesMs, endMs))
  return { mean: orNull(mean), min: orNull(min), max: orNull(max), count }
}
