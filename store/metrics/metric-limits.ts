/** Limits beyond which a reading of a metric is suspect. */

import { z } from 'zod'

const limit = z.number().min(-1e6).max(1e6).nullable()
const size = z.number().positive().max(1e6).nullable()

/** An omitted field keeps its default. Null switches a check off. */
export const MetricLimits = z
  .strictObject({
    /** Bounds of the usual range. */
    min: limit,
    max: limit,
    /** Largest distance from the mean of the readings before and after. */
    spike: size,
    /** Largest change in a minute. Changes over hours scale in proportion. */
    rate: size,
    /** A flat line is suspect after this time. By default the sensor's own runs decide. */
    flat_hours: size,
    /** The sensor's smallest step. By default its readings decide. */
    quantum: size,
  })
  .partial()
  .refine(({ min, max }) => (min ?? -Infinity) < (max ?? Infinity), { path: ['min'], message: 'must be less than max' })
