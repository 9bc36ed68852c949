/** Declares air-quality stations: the shapes of a record, of an addition and of a change. */

import { z } from 'zod'
import { plainText } from '../../store/plain-text.ts'
import { isTimeZone } from '../time-zone.ts'

/** Measured parameters. Each has its own series. */
export const parameters = ['so2', 'o3', 'no2', 'no', 'co', 'pm1', 'pm25', 'pm10'] as const
export type Parameter = (typeof parameters)[number]

/** Numbers of series have 21 bits in the ids of points. */
export const seriesNumberMax = 2 ** 21 - 1

const snPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** A segment of paths. */
const SerialNumber = z
  .string()
  .regex(snPattern, 'must be 1 to 64 letters, digits, ".", "_" or "-", and begin with a letter or a digit')

const decimalPattern = /^[+-]?\d{1,3}(?:\.\d{0,20})?$/

/** Degrees as a number or its text. Zero has no sign. */
function coordinate(limit: number) {
  const error = `must be a number from -${limit} to ${limit}`
  const text = z.string(error).max(32, error).regex(decimalPattern, error).transform(Number)
  return z
    .union([z.number(error), text], error)
    .refine(degrees => Math.abs(degrees) <= limit, error)
    .transform(degrees => degrees + 0)
}

const country = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be an ISO code of two letters')
  .transform(code => code.toUpperCase())

const timezone = z
  .string()
  .max(64, 'must have at most 64 characters')
  .refine(isTimeZone, 'must be an IANA time zone, as Europe/Berlin')

/** Editable fields; null clears an optional one. */
const StationFields = z.object({
  sn: SerialNumber,
  model: plainText({ min: 1, max: 100 }),
  city: plainText({ max: 200 }).nullable(),
  country: country.nullable(),
  location: plainText({ max: 500 }).nullable(),
  latitude: coordinate(90).nullable(),
  longitude: coordinate(180).nullable(),
  outdoors: z.boolean().nullable(),
  timezone: timezone.nullable().transform(name => name ?? 'UTC'),
  private: z.boolean(),
})

/** Leaves out optional fields. */
export const NewStationFields = StationFields.partial().required({ sn: true, model: true })
export type NewStation = z.infer<typeof NewStationFields> & {
  owner: number | null
}

export const StationChangeFields = StationFields.omit({ sn: true }).partial()
export type StationChange = z.infer<typeof StationChangeFields> & { owner?: number | null }

/** Immutable: a change makes a new object. */
export interface Station {
  readonly id: number
  readonly sn: string
  readonly model: string
  readonly city: string | null
  readonly country: string | null
  readonly location: string | null
  readonly latitude: number | null
  readonly longitude: number | null
  readonly outdoors: boolean | null
  readonly timezone: string
  readonly private: boolean
  readonly owner: number | null
  readonly createdMs: number
  readonly updatedMs: number
  /** Saved time of its newest data; `Stations.lastDataMs` is more recent. */
  readonly savedLastDataMs: number | null
  readonly series: ReadonlyMap<Parameter, number>
}

/** Names a station in the audit. */
export function subjectOfStation(sn: string): string {
  return `station ${sn}`
}
