/** A metric of a device beside those that its answers always have: its registry entry, and the place of its values. */

import { batteryMetricOf } from '../analytics/battery/battery-metric.ts'
import {
  freeLimits,
  type MetricSettings,
  type QualityLimits,
  qualityLimits,
  stillLimits,
} from '../analytics/quality/quality-limits.ts'
import type { Metric } from '../store/tables.ts'
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
  /** In the speed's unit; null while that is unknown. */
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
