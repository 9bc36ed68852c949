/** Selects the metrics of a read of a range. */

import type { Device } from '../../auth/devices/device.ts'
import { customMetricsOf, type DeviceMetrics } from '../../auth/metrics/device-metrics.ts'
import {
  builtInMetrics,
  type ExportMetric,
  noSeries,
  type SeriesTable,
  seriesEmpty,
  seriesTable,
} from '../../query/export/series-table.ts'

interface RangeMetrics {
  readonly metrics: readonly ExportMetric[]
  /** Series of the custom metrics. */
  readonly series: SeriesTable
}

type ChosenMetrics =
  | { readonly ok: true; readonly chosen: RangeMetrics }
  | { readonly ok: false; readonly status: string }

/** Requests without the parameter get the built-in metrics, then the device's custom ones. */
export function chooseMetrics(text: unknown, device: Device, registry: DeviceMetrics): ChosenMetrics {
  const custom = customMetricsOf(registry, device)
  if (text === undefined && custom.length === 0) {
    return { ok: true, chosen: { metrics: builtInMetrics, series: seriesEmpty } }
  }
  const there: ExportMetric[] = [...builtInMetrics, ...custom]
  const metrics = namedMetrics(text, there)
  if (typeof metrics === 'string') return { ok: false, status: metrics }
  const entries = metrics.flatMap(({ name }, place) => {
    const metric = custom.find(one => one.name === name)
    return metric === undefined ? [] : [registry.series(device.number, metric) ?? noSeries, device.number, place]
  })
  return { ok: true, chosen: { metrics, series: seriesTable(entries) } }
}

/** Longer than the names of all metrics of a device. */
const textLengthMax = 4000

/** All present metrics without the parameter. A text is an error message. */
export function namedMetrics<One extends ExportMetric>(text: unknown, there: readonly One[]): readonly One[] | string {
  if (text === undefined) return there
  const names = typeof text === 'string' && text.length <= textLengthMax ? text.split(',') : []
  const metrics = names.flatMap(name => there.find(metric => metric.name === name) ?? [])
  const isEachOnce = names.length > 0 && metrics.length === names.length && new Set(names).size === names.length
  if (isEachOnce) return metrics
  return `metrics must name each once, with commas between them: ${there.map(({ name }) => name).join(', ')}`
}
