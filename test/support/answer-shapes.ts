/** Holds answers to their shapes, which are strict: a field that is not declared is an error. */

import type { z } from 'zod'
import { PublicDevice } from '../../api/read/shapes.ts'
import { analyses } from '../../query/analyses/analyses.ts'
import { DayReadings } from '../../query/day.ts'
import { LatestReadings } from '../../query/latest.ts'
import { Fleet } from '../../query/live/fleet-shape.ts'
import { Comparison } from '../../query/shapes/compare.ts'

export const shapeOfRead = new Map<string, z.ZodType>([
  ['fleet', Fleet],
  ['latest', LatestReadings],
  ['data', DayReadings],
  ['device', PublicDevice],
  ['compare_data', Comparison],
  ...Object.values(analyses).map(({ path, answer }) => [path, answer] as const),
])

/** The answer itself, as it came. */
export function validated<Shape extends z.ZodType>(shape: Shape, answer: unknown): z.infer<Shape> {
  return shape.parse(answer) && (answer as z.infer<Shape>)
}

/** The answer of a read at this path below `/api`. */
export function validatedRead(path: string, answer: unknown): unknown {
  const shape = shapeOfRead.get(path.split(/[/?]/)[1] ?? '')
  if (shape === undefined) throw new Error(`${path} has no shape`)
  return validated(shape, answer)
}
