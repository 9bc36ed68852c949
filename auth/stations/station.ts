/** Air-quality stations: the shapes of a record, of an addition, of a change, and of pages for administrators. */

import { z } from 'zod'
import { plainText } from '../../store/plain-text.ts'
import { ownerName } from '../devices/device.ts'
import { createTextSearch, listPage, listPageFields, rowsOfPage } from '../list-page.ts'
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

/** Unknown fields are refused, since a misspelled one would otherwise become a default. */
export const StationRequest = NewStationFields.strict().extend({ owner: ownerName.nullable().default(null) })

export const StationChangeRequest = StationChangeFields.strict()
  .extend({ owner: ownerName.nullable().optional() })
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 })

export const StationDetails = z.object({
  sn: z.string(),
  model: z.string(),
  city: z.string().nullable(),
  country: z.string().nullable(),
  location: z.string().nullable(),
  latitude: z.number().nullable(),
  longitude: z.number().nullable(),
  outdoors: z.boolean().nullable(),
  timezone: z.string(),
  private: z.boolean(),
  owner: z.int().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  last_data_at: z.iso.datetime().nullable(),
})
export type StationDetails = z.infer<typeof StationDetails>

export const StationPage = z.object({
  stations: z.array(StationDetails),
  ...listPageFields,
})
export type StationPage = z.infer<typeof StationPage>

type LastDataMs = (station: Station) => number | null

export function stationDetails(station: Station, lastDataMs: LastDataMs): StationDetails {
  const { id: _, series: __, createdMs, updatedMs, savedLastDataMs: ___, ...fields } = station
  const lastMs = lastDataMs(station)
  return {
    ...fields,
    created_at: new Date(createdMs).toISOString(),
    updated_at: new Date(updatedMs).toISOString(),
    last_data_at: lastMs === null ? null : new Date(lastMs).toISOString(),
  }
}

/** Searches `sn`, model, city and location without regard to case. Pages count from 1. */
export function stationPage(
  all: readonly Station[],
  search: string,
  page: number,
  lastDataMs: LastDataMs,
): StationPage {
  const isFound = createTextSearch(search)
  const found = all.filter(({ sn, model, city, location }) => [sn, model, city ?? '', location ?? ''].some(isFound))
  const stations = rowsOfPage(found, page).map(station => stationDetails(station, lastDataMs))
  return { stations, ...listPage(found.length, page) }
}
