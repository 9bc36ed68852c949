/** From where on a reading of a metric is suspect. */

import { z } from 'zod'

const limit = z.number().min(-1e6).max(1e6).nullable()
const size = z.number().positive().max(1e6).nullable()

/** What is left out is as it would be without these limits, null switches it off. */
export const MetricLimits = z
  .strictObject({
    /** Bounds of the usual range. */
    min: limit,
    max: limit,
    /** The largest distance from the mean of the readings before and after. */
    spike: size,
    /** The largest change in a minute; those of hours are changed in proportion. */
    rate: size,
    /** How long a flat line is suspect; without it by the sensor's own runs. */
    flat_hours: size,
    /** The sensor's smallest step; without it by its readings. */
    quantum: size,
  })
  .partial()
  .refine(({ min, max }) => (min ?? -Infinity) < (max ?? Infinity), { path: ['min'], message: 'must be less than max' })
