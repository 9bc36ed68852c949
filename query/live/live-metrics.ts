/** Registry data of the metrics of devices; see service/live-metrics.ts. */

import type { MetricDescription } from '../shapes/kinds.ts'

export interface LiveMetric {
  readonly name: string
  readonly description: MetricDescription
  /** The number of the series; undefined for a built-in metric, which has a column. */
  readonly series: number | undefined
}

/** All metrics of a device, by its number, in display order. */
export type LiveMetricsOf = (device: number) => readonly LiveMetric[]
