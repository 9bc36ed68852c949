/** What the answers have in common. Shapes are strict: a test holds real answers to them, and nothing does at run time. */

import { z } from 'zod'
import { metrics } from '../../store/tables.ts'
import { airMetrics } from '../answers/units.ts'

/** `YYYY-MM-DD HH:mm` on the server's clock. */
export const LocalMinute = z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d$/)

export const Count = z.int().nonnegative()
export const Share = z.number().min(0).max(1)
/** Of a correlation; rounding may take it a little further. */
export const Coefficient = z
  .number()
  .min(-1 - 1e-9)
  .max(1 + 1e-9)

/** A value at a minute. */
export const Point = z.strictObject({ d: LocalMinute, v: z.number() })
export const Points = z.array(Point)

/** When it was, in milliseconds since 1970, for who asks for it: a local text may come twice. */
export const pointTime = { t: z.int().optional() }
export const TimedPoints = z.array(Point.extend(pointTime))

/** How the answer of each analysis begins, beside its device or devices. */
export const answerContext = { time_zone: z.string(), generated_at: LocalMinute }

/** One of each for every metric. */
export const byMetric = <Shape extends z.ZodType>(shape: Shape) => z.record(z.enum(metrics), shape)

/** One of each for what is measured of the air. */
export const byAirMetric = <Shape extends z.ZodType>(shape: Shape) => z.record(z.enum(airMetrics), shape)
