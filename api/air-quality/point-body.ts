/** Declares the body of POST of data points for the contract. ingest/point.ts checks it. A test compares both. */

import { z } from 'zod'
import { parameters } from '../../auth/stations/station.ts'
import { pointUnits } from '../../store/tables.ts'

/** Limit for one request. */
export const pointsMax = 10_000

const NewDataPoint = z
  .object({
    timestamp: z.string().meta({
      description: 'A whole second in ISO 8601, without a zone in UTC; not before 2000-01-01 and not in the future.',
      examples: ['2026-10-01T12:00:00'],
    }),
    parameter: z.enum(parameters),
    unit: z.enum(pointUnits).meta({ description: 'Stored as sent' }),
    value: z.number(),
    sn: z.string().optional().meta({ description: 'As in the path' }),
  })
  .meta({ id: 'NewDataPoint' })

export const NewDataPoints = z
  .union([NewDataPoint, z.array(NewDataPoint).min(1).max(pointsMax)])
  .meta({ id: 'NewDataPoints', description: 'Elements of an array that are not valid are rejected one by one.' })
