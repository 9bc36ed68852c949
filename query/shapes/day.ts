/** Response of `data/day/<device>/<date>`. */

import type { z } from 'zod'
import { byAirMetric, Points } from './parts.ts'

export const DayReadings = byAirMetric(Points)
export type DayReadings = z.infer<typeof DayReadings>
