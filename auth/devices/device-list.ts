/** One page of the registry, for people who look for a device. */

import { listPage, rowsOfPage } from '../list-page.ts'
import { createTextSearch } from '../text-search.ts'
import type { DevicePage } from './device-page.ts'
import type { DeviceRecord } from './device-record.ts'

/** A page whose devices are still records. */
export interface RecordPage extends Omit<DevicePage, 'devices'> {
  records: readonly DeviceRecord[]
}

/** Finds the text in the name, the place, its description or a tag, whatever the case. Pages count from 1. */
export function pageOfDevices(all: readonly DeviceRecord[], search: string, page: number): RecordPage {
  const found = search === '' ? all : all.filter(finder(search))
  return { records: rowsOfPage(found, page), ...listPage(found.length, page) }
}

function finder(search: string): (record: DeviceRecord) => boolean {
  const isFound = createTextSearch(search)
  return ({ name, location_short, location_desc, tags }) =>
    isFound(name) || isFound(location_short) || isFound(location_desc) || tags.some(isFound)
}
