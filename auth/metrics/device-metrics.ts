/** Which metrics a device has, in the order in which they are read and shown. */

import type { Metric } from '../../metrics/metric.ts'
import type { Device } from '../devices/device.ts'
import type { Metrics } from './metrics.ts'

/** What is asked of the registry. */
export type DeviceMetrics = Pick<Metrics, 'get' | 'metricsOf' | 'series'>

type MetricDevice = Pick<Device, 'number' | 'metrics'>

/**
 * Besides those that are built in: those that it lists, in that order, then the others that it has sent, by position. From
 * memory; the same empty list for a device without any.
 */
export function furtherMetricsOf(metrics: DeviceMetrics, { number, metrics: listed }: MetricDevice): readonly Metric[] {
  const sent = metrics.metricsOf(number)
  const isListed = (listed?.length ?? 0) > 0
  if (sent.length === 0 && !isListed) return none
  const named = (listed ?? []).flatMap(name => metrics.get(name) ?? []).filter(({ built_in }) => !built_in)
  const others = sent.filter(metric => !named.includes(metric))
  return [...named, ...others.sort(byPosition)]
}

const none: readonly Metric[] = []

/** As `Metrics.all` has them. */
function byPosition(a: Metric, b: Metric): number {
  return a.position - b.position || a.id - b.id
}
