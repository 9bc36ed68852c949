/** One page of the registry, for people who look for a device. */

import { z } from 'zod'
import { DeviceDetails } from './device.ts'
import type { DeviceRecord } from './device-record.ts'

const devicesPerPage = 100

export const DevicePage = z.object({
  devices: z.array(DeviceDetails),
  /** How many devices the search finds in all. */
  total: z.int(),
  page: z.int(),
  /** The number of the next page, or null on the last one. */
  next: z.int().nullable(),
})
export type DevicePage = z.infer<typeof DevicePage>

/** Finds the text in the name, the place or its description, whatever the case. Pages count from 1. */
export function devicePage(all: readonly DeviceRecord[], search: string, page: number, nowMs: number): DevicePage {
  const found = search === '' ? all : all.filter(finder(search))
  const from = (page - 1) * devicesPerPage
  const to = from + devicesPerPage
  const devices = found.slice(from, to).map(record => record.details(nowMs))
  return { devices, total: found.length, page, next: to < found.length ? page + 1 : null }
}

function finder(search: string): (record: DeviceRecord) => boolean {
  // A pattern without regard to case makes no copies, unlike lowering each text of a hundred thousand records.
  const pattern = new RegExp(RegExp.escape(search.normalize('NFC')), 'iu')
  return record =>
    pattern.test(record.name) || pattern.test(record.location_short) || pattern.test(record.location_desc)
}
