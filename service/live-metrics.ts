/** What the registries say of the metrics of devices, as the live state asks it. */

import type { Devices } from '../auth/devices/devices.ts'
import { createShownMetrics } from '../auth/metrics/device-metrics.ts'
import type { Metrics } from '../auth/metrics/metrics.ts'
import type { LiveMetric, LiveMetricsOf } from '../query/live/live-metrics.ts'
import { descriptionOf } from '../store/metrics/metric-description.ts'

export function createLiveMetrics(metrics: Metrics, devices: Pick<Devices, 'byNumber'>): LiveMetricsOf {
  const shownOf = createShownMetrics(metrics)
  return number => {
    const device = devices.byNumber(number)
    return device === undefined
      ? []
      : shownOf(device).map((metric): LiveMetric => {
          return { name: metric.name, description: descriptionOf(metric), series: metrics.series(number, metric) }
        })
  }
}
