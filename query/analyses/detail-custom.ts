/** The custom metrics of `detail_data`: their hours of a month, by kind, and their descriptions. */

import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { expectedDefaultSeconds } from '../../analytics/reliability/freshness.ts'
import type { Bucket } from '../../analytics/summary/aggregates.ts'
import { hoursText, type PointStyle, pointEnd, pointStart } from '../answers/point-text.ts'
import { type CustomSamples, descriptionsOf, stateHoldMs } from '../custom-metric.ts'
import { type BucketContext, bucketFigures } from '../kinds/bucket-figures.ts'
import type { SeriesHours } from '../questdb/measurements-source.ts'
import type { DeviceDetail } from '../shapes/detail.ts'
import type { KindBucket } from '../shapes/kinds.ts'
import { longestGapMs } from './device-cadence.ts'

const hourMs = 3_600_000

/** A metric beside the five, in the windows of the answer. */
export interface DetailedMetric {
  readonly day: CustomSamples
  /** Hours of a gauge; undefined where it has no value. */
  readonly hours?: SeriesHours | undefined
  /** Samples of other kinds; counters and states include the value before the month. */
  readonly month?: CustomSamples
}

/** UTC hours of [startMs, endMs). */
export function customHoursText(
  { hours, month }: DetailedMetric,
  { startMs, endMs }: Bucket,
  style: PointStyle,
  context: BucketContext,
): string {
  if (month === undefined)
    return hours === undefined ? '[]' : hoursText(style, hours.startsMs, hours, '"kind":"gauge",')
  const buckets: Bucket[] = []
  for (let fromMs = startMs; fromMs < endMs; fromMs += hourMs) buckets.push({ startMs: fromMs, endMs: fromMs + hourMs })
  const texts = bucketFigures(month, buckets, context).flatMap((figures, place) => {
    if (!hasFigures(figures)) return []
    const fromMs = (buckets[place] as Bucket).startMs
    return pointStart(style, fromMs) + JSON.stringify(figures).slice(1, -1) + pointEnd(style, fromMs)
  })
  return `[${texts.join(',')}]`
}

function hasFigures(figures: KindBucket): boolean {
  if (figures.kind === 'counter') return figures.increase !== null || figures.unplaced_increase > 0
  return figures.kind === 'state' ? figures.known_seconds > 0 : figures.count > 0
}

/** Spacing of the points of a metric. */
export interface PointPace {
  readonly cadence: Cadence | undefined
  /** The longest time between two kept points that no gap divides; 0 where all readings are kept. */
  readonly stepMaxMs: number
}

/** Describes each metric with the longest interval that does not break its line, and a state with its hold time. */
export function describeDetailed(
  custom: readonly DetailedMetric[],
  paces: readonly PointPace[],
  sinceMs: number,
): NonNullable<DeviceDetail['metrics']> {
  const descriptions = descriptionsOf(custom.map(({ day }) => day.metric))
  return Object.fromEntries(
    Object.entries(descriptions).map(([name, description], place) => {
      const { cadence, stepMaxMs } = paces[place] as PointPace
      const { day, month = day } = custom[place] as DetailedMetric
      const holdMs = description.kind === 'state' ? stateHoldMs(month) : undefined
      const gapMs = holdMs ?? longestGapMs(cadence?.stretches ?? [], sinceMs)
      const gap_seconds = gapMs === null ? null : Math.max(gapMs, stepMaxMs) / 1000
      if (description.kind !== 'state') return [name, { ...description, gap_seconds }]
      // Both sides of a gap are kept, so that thinning does not change how long a state holds in one.
      const hold_seconds = (holdMs ?? cadence?.expectedMs ?? expectedDefaultSeconds * 1000) / 1000
      return [name, { ...description, gap_seconds, hold_seconds }]
    }),
  )
}
