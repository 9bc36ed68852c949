/** Points in bodies and answers: their formats and fields. */

import Negotiator from 'negotiator'
import { z } from 'zod'
import { parameters } from '../../auth/stations/station.ts'
import { pointUnits } from '../../store/tables.ts'

export type PointLines = 'csv' | 'ndjson'
type PointFormat = 'json' | PointLines

export const typeOf: Record<PointFormat, string> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
}

/** JSON is the default, also for clients that accept other types only. */
const formatOfType: Readonly<Record<string, PointFormat>> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
}
const types = Object.keys(formatOfType)
const headerLengthMax = 1_000

/** `format` takes precedence over Accept. Undefined for an unknown format. */
export function pointFormat(accept: string | undefined, format: string | null): PointFormat | undefined {
  if (format !== null && format !== '') return Object.hasOwn(typeOf, format) ? (format as PointFormat) : undefined
  if (accept === undefined || accept.length > headerLengthMax) return 'json'
  const [type = ''] = new Negotiator({ headers: { accept } }).mediaTypes(types)
  return formatOfType[type] ?? 'json'
}

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
