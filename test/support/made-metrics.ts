/** A registry of metrics in memory for the devices of a test, as far as the reads ask it. */

import type { ExportRegistry } from '../../api/admin/export.ts'
import type { Metric, MetricKind } from '../../store/metrics/metric.ts'

export interface MadeSeries {
  /** The registry's number. */
  readonly device: number
  readonly name: string
  readonly kind?: MetricKind
  readonly position?: number
  readonly unit?: string
  readonly series: number
}

/** Metrics are by position in the order of their first series. */
export function madeMetrics(made: readonly MadeSeries[] = []): ExportRegistry & { version(): number } {
  const metrics = new Map<string, Metric>()
  for (const { name, kind = 'gauge', position = 6 + metrics.size, unit = null } of made) {
    if (metrics.has(name)) continue
    const limits = { min: null, max: null, quality: null, color: null }
    const id = 6 + metrics.size
    metrics.set(name, { id, name, title: name, unit, kind, decimals: 1, position, built_in: false, ...limits })
  }
  return {
    all: () => [...metrics.values()].sort((a, b) => a.position - b.position),
    get: name => metrics.get(name),
    metricsOf: device => made.filter(one => one.device === device).map(({ name }) => metrics.get(name) as Metric),
    series: (device, { id }) => made.find(one => one.device === device && metrics.get(one.name)?.id === id)?.series,
    version: () => 1,
  }
}
