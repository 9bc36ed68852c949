/** What the answers have in common. Shapes are strict: a test holds real answers to them, and nothing does at run time. */

import { z } from 'zod'
import { type Metric, metrics } from '../../store/tables.ts'
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

/**
 * A value at a minute. Wherever it stands, `d` is the last member, and no optional one stands beside it: clients made by
 * openapi-python-client read the members from a dictionary of that name.
 */
export const Point = z.strictObject({ v: z.number(), d: LocalMinute }).meta({ id: 'Point' })
export const Points = z.array(Point)

/** For who asks for it: a local text may come twice. */
export const pointTime = { t: z.int().meta({ description: 'Milliseconds since 1970' }) }
export const TimedPoint = z.strictObject({ ...pointTime, ...Point.shape }).meta({ id: 'TimedPoint' })
export const TimedPoints = z.array(z.union([TimedPoint, Point]))

/** How the answer of each analysis begins, beside its device or devices. */
export const answerContext = { time_zone: z.string(), generated_at: LocalMinute }

/** One of each for every metric of the five, and one of another shape for each custom metric. */
export const byMetricAndCustom = <Shape extends z.ZodType>(shape: Shape, custom: z.ZodType) =>
  withCustom(Object.fromEntries(metrics.map(name => [name, shape])) as Record<Metric, Shape>, custom)

/**
 * Members, and one of a shape for each custom metric under its name, which none of the members has. The type is that of the
 * members: TypeScript has none for an object whose other members are of another one.
 */
export function withCustom<Shape extends z.ZodRawShape>(shape: Shape, custom: z.ZodType): z.ZodObject<Shape> {
  return z.object(shape).catchall(custom) as unknown as z.ZodObject<Shape>
}

/** One of each for what is measured of the air. */
export const byAirMetric = <Shape extends z.ZodType>(shape: Shape) => z.record(z.enum(airMetrics), shape)
