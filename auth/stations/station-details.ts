/** Declares stations for administrators. */

import { z } from 'zod'
import { ownerName } from '../devices/device.ts'
import { listPage, listPageFields, rowsOfPage } from '../list-page.ts'
import { createTextSearch } from '../text-search.ts'
import { NewStationFields, type Station, StationChangeFields } from './station.ts'

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
