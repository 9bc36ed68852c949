/** A metric of a device beside those that its answers always have: its registry entry, and its samples. */

import { batteryMetricOf } from '../analytics/battery/battery-metric.ts'
import { episodesOf } from '../analytics/findings/episodes.ts'
import { findingsOfKind } from '../analytics/findings/finding.ts'
import { frozenMarks, type JudgedMetric } from '../analytics/findings/quality-anomalies.ts'
import { lowerBound } from '../analytics/lower-bound.ts'
import type { Samples } from '../analytics/present.ts'
import { checkQuality } from '../analytics/quality/quality.ts'
import {
  flatBit,
  freeLimits,
  type MetricSettings,
  type QualityLimits,
  qualityLimits,
  stillLimits,
} from '../analytics/quality/quality-limits.ts'
import { type Cadence, estimatedCadence } from '../analytics/reliability/cadence.ts'
import { unknownState } from '../analytics/state/state-runs.ts'
import type { Metric, SeriesHourColumn } from '../store/tables.ts'
import type { MetricDescription } from './shapes/kinds.ts'

/** The place of a device's values of a metric. The device has none where both fields are undefined. */
export interface ValuesPlace {
  /** The number of its series in the table of measurements. */
  readonly series: number | undefined
  /** Column of the table of readings. */
  readonly column: Metric | undefined
}

/** Plain data that can be posted to a worker and be part of a key. */
export interface CustomMetric extends MetricDescription, ValuesPlace {
  readonly name: string
  /** Quality limits of the registry; null for none. */
  readonly quality: MetricSettings | null
  /** The speed that belongs to a direction, such as the wind's; undefined where the device has none. */
  readonly speed: PairedSpeed | undefined
}

export interface PairedSpeed extends ValuesPlace {
  readonly name: string
  /** The limit is in the speed's unit; null while that is unknown. */
  readonly calmBelow: number | null
}

/** Limits beyond which a value of a gauge or of a direction is suspect. */
export function customLimits({
  name,
  unit,
  quality,
  kind,
}: Pick<CustomMetric, 'name' | 'unit' | 'quality' | 'kind'>): QualityLimits {
  const settings = quality ?? {}
  const known = qualityLimits(name, null, settings)
  const limits = kind === 'gauge' ? freeLimits(known, settings) : known
  // A battery changes little for weeks.
  return batteryMetricOf(name, unit) === undefined ? stillLimits(limits, settings) : limits
}

export function descriptionsOf(custom: readonly CustomMetric[]): Record<string, MetricDescription> {
  return Object.fromEntries(
    custom.map(({ name, title, kind, unit, decimals, left_out }) => {
      return [name, { title, kind, unit, decimals, ...(left_out !== undefined && { left_out }) }]
    }),
  )
}

/** A total grows from the sample before a range on, and the one before that may show it to be noise. */
export const counterSamplesAround = 2

/**
 * The existing values of a metric, ascending; for a direction with a speed, also the times of speeds without a
 * direction.
 */
export interface CustomSamples extends Samples {
  readonly metric: CustomMetric
  /** One for each time, NaN where missing; undefined without a paired speed. */
  readonly speeds: Float64Array | undefined
  /** Hours of expired values. The samples in them are synthetic. */
  readonly expired?: ExpiredHours | undefined
}

export interface ExpiredHours {
  /** Hours that begin before this are expired. */
  readonly beforeMs: number
  /** The kept figures of each hour, by its start. */
  readonly at: ReadonlyMap<number, Pick<Record<SeriesHourColumn, number>, 'count' | 'sine' | 'cosine'>>
  /** Starts of the hours of amounts whose largest value is unknown. */
  readonly withoutMax: ReadonlySet<number>
}

/** The values at these times, ascending, NaN where there is none. Values at other times are left out. */
export function alignedTo(timesMs: Float64Array, samples: Samples): Float64Array {
  const aligned = new Float64Array(timesMs.length).fill(Number.NaN)
  let place = 0
  for (let index = 0; index < samples.timesMs.length; index++) {
    const timeMs = samples.timesMs[index] as number
    while (place < timesMs.length && (timesMs[place] as number) < timeMs) place++
    if (timesMs[place] === timeMs) aligned[place] = samples.values[index] as number
  }
  return aligned
}

/** After a week of silence the state is unknown. */
export const stateHoldMaxMs = 7 * 86_400_000

/**
 * Undefined where values come at the device's pace, so that a missing one is a gap. A state counts as sent on change
 * where values are irregular and at least half of them differ from the one before. Synthetic samples are used only
 * where there are too few others, and never for their times, which are evenly spaced.
 */
export function stateHoldMs({
  timesMs,
  values,
  expired,
}: Pick<CustomSamples, 'timesMs' | 'values' | 'expired'>): number | undefined {
  const from = expired === undefined ? 0 : lowerBound(timesMs, expired.beforeMs)
  const kind = () => estimatedCadence(timesMs.subarray(from)).kind
  const areEnough = from === 0 || kind() !== 'unknown'
  if (!isChanging(areEnough ? values.subarray(from) : values)) return undefined
  return kind() === 'regular' ? undefined : stateHoldMaxMs
}

/** Counts pairs with two known states. */
function isChanging(values: Float64Array): boolean {
  let [pairs, differing] = [0, 0]
  for (let index = 1; index < values.length; index++) {
    const [before, value] = [values[index - 1], values[index]]
    if (before === unknownState || value === unknownState) continue
    pairs++
    if (value !== before) differing++
  }
  return 2 * differing >= pairs
}

/** Undefined for other metrics, and without a speed, because calm cannot be detected. */
export function judgedVane(
  { metric, timesMs, values, speeds }: CustomSamples,
  { stretches }: Cadence,
): JudgedMetric | undefined {
  const calmBelow = metric.speed?.calmBelow ?? null
  if (metric.kind !== 'direction' || !findingsOfKind.direction.stuck) return undefined
  if (speeds === undefined || calmBelow === null) return undefined
  const { marks, limits } = checkQuality(timesMs, values, customLimits(metric), stretches)
  const lines = episodesOf({ timesMs, values, marks }, flatBit, stretches)
  return {
    name: metric.name,
    timesMs,
    values,
    limits,
    marks: frozenMarks({ timesMs, marks }, lines, { speeds, calmBelow }),
  }
}
