/** Declares a page of the registry. */

import { z } from 'zod'
import { listPageFields } from '../list-page.ts'
import { DeviceDetails } from './device.ts'

export const DevicePage = z.object({
  devices: z.array(DeviceDetails),
  ...listPageFields,
})
export type DevicePage = z.infer<typeof DevicePage>
