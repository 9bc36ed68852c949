/** Responses about stations that differ from those about devices. */

import { z } from 'zod'
import { pointUnits } from '../../store/tables.ts'
import { customMetrics } from './kinds.ts'
import { Count } from './parts.ts'

/** The same states as for devices. */
const StationState = z.enum(['silent', 'late', 'never', 'fresh', 'off'])
export type StationState = z.infer<typeof StationState>

export const StationLatest = z.strictObject({
  device: z.string(),
  time_zone: z.string(),
  state: StationState,
  last_seen: z.int().nullable().meta({ description: 'Milliseconds since 1970' }),
  /** Keyed by parameter. */
  values: z.record(z.string(), z.strictObject({ v: z.number(), ts: z.int(), unit: z.string() })),
  ...customMetrics,
})
export type StationLatest = z.infer<typeof StationLatest>

const PointUnit = z.enum(pointUnits)

export const StationUnits = z.strictObject({
  device: z.string(),
  /** Keyed by parameter. */
  units: z.record(
    z.string(),
    z.strictObject({
      unit: PointUnit.meta({ description: 'Metadata of the newest point of the range.' }),
      counts: z.partialRecord(PointUnit, Count).meta({ description: 'Points of the range in each unit.' }),
      left_out: z
        .partialRecord(PointUnit, Count.positive())
        .meta({ description: 'Points of the range whose unit cannot be converted to `unit`.' }),
    }),
  ),
})
export type StationUnits = z.infer<typeof StationUnits>
