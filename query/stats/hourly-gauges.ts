/** Hourly means of a device's gauges, with their units. */

import type { Metric } from '../../store/tables.ts'
import { units } from '../answers/units.ts'
import type { CustomSamples } from '../kinds/metric-samples.ts'
import type { StatsWindow } from './window.ts'

export interface HourlyGauge {
  readonly name: string
  readonly unit: string | null
  readonly hours: Float64Array
}

export interface HourlyGauges<Column extends Metric> {
  readonly window: {
    readonly hourly: Pick<StatsWindow['hourly'], 'frame'> & { readonly means: Readonly<Record<Column, Float64Array>> }
    readonly custom: readonly Pick<StatsWindow['custom'][number], 'name' | 'hours'>[]
  }
  readonly custom: readonly { readonly metric: Pick<CustomSamples['metric'], 'name' | 'unit'> }[]
}

/** Some of the five first, then each gauge beside them. */
export function hourlyGauges<Column extends Metric>(
  columns: readonly Column[],
  { window, custom }: HourlyGauges<Column>,
): HourlyGauge[] {
  const unitsOf = new Map(custom.map(({ metric }) => [metric.name, metric.unit]))
  return [
    ...columns.map(name => ({ name, unit: units[name], hours: window.hourly.means[name] })),
    ...window.custom.map(({ name, hours }) => ({ name, unit: unitsOf.get(name) ?? null, hours })),
  ]
}
