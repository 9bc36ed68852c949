/** Declares a metric as it is shown, and a page of the registry. */

import { z } from 'zod'
import { Metric } from '../../store/metrics/metric.ts'

export const MetricDetails = Metric.extend({
  /** Shown unit: `°C` for `Cel`. */
  unit_sign: z.string().nullable(),
})
export type MetricDetails = z.infer<typeof MetricDetails>

export const MetricPage = z.object({
  metrics: z.array(MetricDetails),
  total: z.int().nonnegative(),
  /** Argument for `?after=`, or null on the last page. */
  next: z.int().nonnegative().nullable(),
})
export type MetricPage = z.infer<typeof MetricPage>
