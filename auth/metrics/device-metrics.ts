/** Which metrics a device has, in the order in which they are read and shown. */

import type { Metric } from '../../store/metrics/metric.ts'
import type { Device } from '../devices/device.ts'
import type { Metrics } from './metrics.ts'

/** What is asked of the registry. */
export type DeviceMetrics = Pick<Metrics, 'get' | 'metricsOf' | 'series'>

export type MetricDevice = Pick<Device, 'number' | 'metrics'>

/**
 * Besides those that are built in: those that it lists, in that order, then the others that it has sent, by position. From
 * memory; the same empty list for a device without any.
 */
export function customMetricsOf(metrics: DeviceMetrics, { number, metrics: listed }: MetricDevice): readonly Metric[] {
  const sent = metrics.metricsOf(number)
  const isListed = (listed?.length ?? 0) > 0
  if (sent.length === 0 && !isListed) return none
  const named = (listed ?? []).flatMap(name => metrics.get(name) ?? []).filter(({ built_in }) => !built_in)
  const others = sent.filter(metric => !named.includes(metric))
  return [...named, ...others.sort(byPosition)]
}

/** Tells all metrics of a device in the order in which they are shown: those that it lists, then the others by position. */
export function createShownMetrics(metrics: DeviceMetrics & Pick<Metrics, 'all' | 'version'>) {
  let version = -1
  let builtIn: readonly Metric[] = []
  return (device: MetricDevice): readonly Metric[] => {
    if (metrics.version() !== version) {
      builtIn = metrics.all().filter(metric => metric.built_in)
      version = metrics.version()
    }
    const listed = (device.metrics ?? []).flatMap(name => metrics.get(name) ?? [])
    const others = [...builtIn, ...metrics.metricsOf(device.number)].filter(metric => !listed.includes(metric))
    return [...listed, ...others.sort(byPosition)]
  }
}

const none: readonly Metric[] = []

/** As `Metrics.all` has them. */
function byPosition(a: Metric, b: Metric): number {
  return a.position - b.position || a.id - b.id
}
