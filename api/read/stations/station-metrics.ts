/** Metrics of a station: its parameters, in the order of the interface. */

import { type Parameter, parameters, type Station } from '../../../auth/stations/station.ts'
import type { CustomMetric } from '../../../query/custom-metric.ts'
import { catalogueEntry } from '../../../store/metrics/catalogue.ts'
import { descriptionOf, type Metric } from '../../../store/metrics/metric.ts'

/** The used part of the registry. */
export interface DescribedMetrics {
  get(name: string): Metric | undefined
}

/** Ordered as in the interface, or as named. */
export function stationMetrics(
  metrics: DescribedMetrics,
  { series }: Station,
  names: readonly string[] | undefined,
): CustomMetric[] {
  const all = parameters.filter(parameter => series.has(parameter))
  const wanted = names?.flatMap(name => all.find(parameter => parameter === name) ?? []) ?? all
  return wanted.map(parameter => metricOf(metrics, parameter, series.get(parameter)))
}

export function absentParameter({ series }: Station, names: readonly string[] = []): string | undefined {
  return names.find(name => !series.has(name as Parameter))
}

function metricOf(metrics: DescribedMetrics, name: Parameter, series: number | undefined): CustomMetric {
  const registered = metrics.get(name)
  const described = registered ?? catalogueEntry(name) ?? { title: name, kind: 'gauge', unit: null, decimals: 1 }
  return {
    name,
    ...descriptionOf(described),
    quality: registered?.quality ?? null,
    series,
    column: undefined,
    speed: undefined,
  }
}
