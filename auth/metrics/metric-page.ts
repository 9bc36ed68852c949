/** A metric as it is shown, and the shape of a page of the registry. */

import { z } from 'zod'
import { Metric } from '../../store/metrics/metric.ts'

export const MetricDetails = Metric.extend({
  /** How people read the unit: `°C` for `Cel`. */
  unit_sign: z.string().nullable(),
})
export type MetricDetails = z.infer<typeof MetricDetails>

export const MetricPage = z.object({
  metrics: z.array(MetricDetails),
  /** All that the search finds. */
  total: z.int().nonnegative(),
  /** For `?after=`, or null on the last page. */
  next: z.int().nonnegative().nullable(),
})
export type MetricPage = z.infer<typeof MetricPage>
