/** Today beside the same hours of earlier days: five local calendar days, hour by hour, to be laid over each other. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import { orNull } from '../../analytics/present.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { type LocalDay, type LocalHour, localDays, localHours } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { descriptionsOf } from '../custom-metric.ts'
import { type BucketContext, bucketFigures } from '../kinds/bucket-figures.ts'
import type { CustomSamples } from '../kinds/metric-samples.ts'
import { mapColumns } from '../map-columns.ts'
import type { Series } from '../series.ts'
import type { PastDays } from '../shapes/past.ts'
import { answerContext } from './answer-text.ts'
import { deviceCadence } from './device-cadence.ts'
import { airMetrics } from './units.ts'

/** Distance of each of the answer's days from today, in calendar days. */
const offsetDays = { today: 0, yesterday: 1, '7d': 7, '30d': 30, '365d': 365 }

export interface PastDay extends LocalDay {
  readonly key: keyof typeof offsetDays
}

/** The five days, in the answer's order. */
export function pastDays(local: LocalTime, nowMs: number): PastDay[] {
  const days = localDays(local, nowMs, offsetDays['365d'] + 1)
  const keys = Object.keys(offsetDays) as PastDay['key'][]
  return keys.map(key => ({ key, ...(days.at(-1 - offsetDays[key]) as LocalDay) }))
}

export interface PastInput {
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
