/** Selects the columns of an export of some devices. */

import { setImmediate as turn } from 'node:timers/promises'
import type { Device } from '../../auth/devices/device.ts'
import { customMetricsOf, type DeviceMetrics } from '../../auth/metrics/device-metrics.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import { builtInMetrics } from '../../query/export/export-columns.ts'
import type { ExportRequest } from '../../query/export/readings-export.ts'
import { noSeries, seriesTable } from '../../query/export/series-table.ts'

export type ExportRegistry = DeviceMetrics & Pick<Metrics, 'all'>

/** Each custom metric adds a column to each row. */
export const customMax = 500
/** A group takes some milliseconds of the main thread. */
const devicesPerTurn = 2000

/** Custom metrics of these devices by position; undefined if they exceed the limit of one export. */
export async function contentOf(
  devices: readonly Device[],
  registry: ExportRegistry,
): Promise<Pick<ExportRequest, 'metrics' | 'series'> | undefined> {
  const ids = new Set<number>()
  const series: number[] = []
  for (const [index, device] of devices.entries()) {
    for (const metric of customMetricsOf(registry, device)) {
      ids.add(metric.id)
      series.push(registry.series(device.number, metric) ?? noSeries, device.number, metric.id)
    }
    if (index % devicesPerTurn === devicesPerTurn - 1) await turn()
  }
  if (ids.size > customMax) return undefined
  const custom = registry.all().filter(({ id }) => ids.has(id))
  const metrics = [...builtInMetrics, ...custom]
  const places = new Map(custom.map(({ id }, index) => [id, builtInMetrics.length + index]))
  const entries = series.map((number, index) => (index % 3 === 2 ? (places.get(number) as number) : number))
  return { metrics, series: seriesTable(entries) }
}
