/** The shape of a page of the registry. */

import { z } from 'zod'
import { DeviceDetails } from './device.ts'

export const DevicePage = z.object({
  devices: z.array(DeviceDetails),
  /** How many devices the search finds in all. */
  total: z.int(),
  page: z.int(),
  /** The number of the next page, or null on the last one. */
  next: z.int().nullable(),
})
export type DevicePage = z.infer<typeof DevicePage>
