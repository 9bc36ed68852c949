/** Declares a page of the registry with the states of its devices, for the API, the command line and the pages. */

import { z } from 'zod'
import { DeviceDetails } from '../../auth/devices/device.ts'
import { DevicePage } from '../../auth/devices/device-page.ts'
import { liveStates } from '../../query/live/live-state.ts'

const ListedDevice = DeviceDetails.extend({
  state: z.enum(liveStates).nullable().meta({ description: 'Null until the state of the fleet is loaded.' }),
  last_reading: z.iso.datetime().nullable().meta({
    description: 'Time of the newest reading, or of the last sign-in until the state of the fleet is loaded.',
  }),
}).meta({ id: 'AdminListedDevice' })
export type ListedDevice = z.infer<typeof ListedDevice>

export const AdminDevicePage = DevicePage.extend({ devices: z.array(ListedDevice) }).meta({ id: 'AdminDevicePage' })
export type AdminDevicePage = z.infer<typeof AdminDevicePage>
