/** Declares the admin API's answers on shared metrics and units. */

import { z } from 'zod'
import { metricKinds } from '../../store/metrics/metric.ts'

export const MetricCatalogue = z.object({
  metrics: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      /** Other names that find the metric. */
      aliases: z.array(z.string()),
      unit: z.string().nullable(),
      unit_sign: z.string().nullable(),
      kind: z.enum(metricKinds),
      decimals: z.int(),
      min: z.number().nullable(),
      max: z.number().nullable(),
    }),
  ),
  units: z.array(
    z.object({
      code: z.string(),
      sign: z.string(),
      /** Units of one dimension are converted into each other. */
      dimension: z.string(),
      aliases: z.array(z.string()),
    }),
  ),
})
export type MetricCatalogue = z.infer<typeof MetricCatalogue>
