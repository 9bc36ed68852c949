/** Orders the metrics of a device for reads and pages. */

import type { Metric } from '../../store/metrics/metric.ts'
import type { Device } from '../devices/device.ts'
import type { Metrics } from './metrics.ts'

/** The used part of the registry. */
export type DeviceMetrics = Pick<Metrics, 'get' | 'metricsOf' | 'series'>

export type MetricDevice = Pick<Device, 'number' | 'metrics'>

/** Custom metrics: the listed ones in that order, then others by position. Empty lists are shared. */
export function customMetricsOf(metrics: DeviceMetrics, { number, metrics: listed }: MetricDevice): readonly Metric[] {
  const sent = metrics.metricsOf(number)
  const isListed = (listed?.length ?? 0) > 0
  if (sent.length === 0 && !isListed) return none
  const named = (listed ?? []).flatMap(name => metrics.get(name) ?? []).filter(({ built_in }) => !built_in)
  const others = sent.filter(metric => !named.includes(metric))
  return [...named, ...others.sort(byPosition)]
}

/** Lists all metrics of a device in their shown order: its listed ones, then the others by position. */
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

/** The order of `Metrics.all`. */
function byPosition(a: Metric, b: Metric): number {
  return a.position - b.position || a.id - b.id
}
