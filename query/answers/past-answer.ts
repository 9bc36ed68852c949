/** Today beside the same hours of earlier days: five local calendar days, hour by hour, to be laid over each other. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import { orNull } from '../../analytics/or-null.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { type LocalDay, localDays } from '../../analytics/time/local-days.ts'
import { type LocalHour, localHours } from '../../analytics/time/local-hours.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { mapColumns } from '../map-columns.ts'
import type { Series } from '../series.ts'
import type { PastDays } from '../shapes/past.ts'
import { answerContext } from './answer-text.ts'
import { airMetrics } from './units.ts'

/** How many calendar days back each of the answer's days is. */
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
  readonly device: Pick<AnalysedDevice, 'name'>
  /** Of `pastDays`, each with its readings. */
  readonly days: readonly (PastDay & { readonly series: Series })[]
  readonly nowMs: number
  readonly local: LocalTime
}

/** The answer as JSON text. */
export function buildPast({ device, days, nowMs, local }: PastInput): string {
  const dayOf = (day: PastInput['days'][number]) => ({
    date: day.date,
    offset_days: offsetDays[day.key],
    hours: localHours(local, day).map(hour => hourOf(hour, day.series)),
  })
  return JSON.stringify({
    device: device.name,
    ...answerContext(local, nowMs),
    ...(Object.fromEntries(days.map(day => [day.key, dayOf(day)])) as Record<PastDay['key'], ReturnType<typeof dayOf>>),
  } satisfies PastDays)
}

/** An hour that has not come yet is empty like any other. */
function hourOf({ hour, text, startMs, endMs }: LocalHour, { timesMs, values }: Series) {
  const from = lowerBound(timesMs, startMs)
  const to = lowerBound(timesMs, endMs)
  const statistics = mapColumns(airMetrics, metric => {
    const { mean, min, max, count } = momentsOf(values[metric], from, to)
    return { mean: orNull(mean), min: orNull(min), max: orNull(max), count }
  })
  return { hour, d: text, ...statistics }
}
