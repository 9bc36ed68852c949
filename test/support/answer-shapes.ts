/** Holds answers to their shapes, which are strict: a field that is not declared is an error. */

import type { z } from 'zod'
import { PublicDevice } from '../../api/read/shapes.ts'
import { Fleet } from '../../query/live/fleet-shape.ts'
import { Anomalies } from '../../query/shapes/anomalies.ts'
import { LevelChanges } from '../../query/shapes/changes.ts'
import { Comparison } from '../../query/shapes/compare.ts'
import { DailySummary } from '../../query/shapes/daily.ts'
import { DayReadings } from '../../query/shapes/day.ts'
import { DeviceDetail } from '../../query/shapes/detail.ts'
import { DomainFigures } from '../../query/shapes/domain.ts'
import { Excursions } from '../../query/shapes/excursions.ts'
import { Forecast } from '../../query/shapes/forecast.ts'
import { LatestReadings } from '../../query/shapes/latest.ts'
import { NormalValues } from '../../query/shapes/normal.ts'
import { PastDays } from '../../query/shapes/past.ts'
import { Stats } from '../../query/shapes/stats.ts'
import { UnusualValues } from '../../query/shapes/unusual.ts'

export const shapeOfRead = {
  fleet: Fleet,
  latest: LatestReadings,
  data: DayReadings,
  device: PublicDevice,
  compare_data: Comparison,
  detail_data: DeviceDetail,
  stats_data: Stats,
  daily_summary: DailySummary,
  past_window_data: PastDays,
  changes: LevelChanges,
  normal: NormalValues,
  unusual: UnusualValues,
  forecast: Forecast,
  domain: DomainFigures,
  excursions: Excursions,
  anomalies: Anomalies,
}

/** The answer itself, as it came. */
export function validated<Shape extends z.ZodType>(shape: Shape, answer: unknown): z.infer<Shape> {
  return shape.parse(answer) && (answer as z.infer<Shape>)
}

/** The answer of a read at this path below `/api`. */
export function validatedRead(path: string, answer: unknown): unknown {
  const name = path.split(/[/?]/)[1] ?? ''
  if (!Object.hasOwn(shapeOfRead, name)) throw new Error(`${path} has no shape`)
  return validated(shapeOfRead[name as keyof typeof shapeOfRead], answer)
}
