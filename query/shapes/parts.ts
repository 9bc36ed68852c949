/** Common parts of responses. Shapes are strict: tests validate real responses, and run time does not. */

import { z } from 'zod'
import { reasons } from '../../analytics/reasons.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import { airMetrics } from '../series.ts'

/** `YYYY-MM-DD HH:mm` on the server's clock. */
export const LocalMinute = z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d$/)

export const Count = z.int().nonnegative()
export const Share = z.number().min(0).max(1)
/** A correlation coefficient; rounding may exceed the bounds slightly. */
export const Coefficient = z
  .number()
  .min(-1 - 1e-9)
  .max(1 + 1e-9)

/**
 * A value at a minute. `d` is always the last member, without an optional one beside it: clients made by
 * openapi-python-client read the members from a dictionary of that name.
 */
export const Point = z.strictObject({ v: z.number(), d: LocalMinute }).meta({ id: 'Point' })
export const Points = z.array(Point)

/** The time is sent only on request, since a local text may occur twice. */
export const pointTime = { t: z.int().meta({ description: 'Milliseconds since 1970' }) }
export const TimedPoint = z.strictObject({ ...pointTime, ...Point.shape }).meta({ id: 'TimedPoint' })
export const TimedPoints = z.array(z.union([TimedPoint, Point]))

/** The first members of each analysis, beside its device or devices. */
export const answerContext = { time_zone: z.string(), generated_at: LocalMinute }

/** One entry for each of the five metrics, and one of another shape for each custom metric. */
export const byMetricAndCustom = <Shape extends z.ZodType>(shape: Shape, custom: z.ZodType) =>
  withCustom(Object.fromEntries(metrics.map(name => [name, shape])) as Record<Metric, Shape>, custom)

/**
 * Members, and one entry of a shape for each custom metric, whose name differs from all members. The type lists only
 * the members, because TypeScript cannot type the others differently.
 */
export function withCustom<Shape extends z.ZodRawShape>(shape: Shape, custom: z.ZodType): z.ZodObject<Shape> {
  return z.object(shape).catchall(custom) as unknown as z.ZodObject<Shape>
}

/** One entry for each metric of the air. */
export const byAirMetric = <Shape extends z.ZodType>(shape: Shape) => z.record(z.enum(airMetrics), shape)

export type { PairReason, Reason } from '../../analytics/reasons.ts'

/** The reason why results are missing. */
export const reason = z.enum(Object.values(reasons)).nullable()

const lack = z
  .strictObject({ needed: z.number(), found: z.number() })
  .nullable()
  .meta({ description: 'The insufficient amount: days, cells or a share from 0 to 1, depending on the reason.' })
export type Lack = z.infer<typeof lack>

export const verdict = { status: z.enum(['ok', 'no_data', 'insufficient_data', 'constant']), reason, lack }
