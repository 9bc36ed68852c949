/** Declares the answer of `GET /api/device/<name>`. */

import { z } from 'zod'
import { Device } from '../../auth/devices/device.ts'

export const PublicDevice = Device.pick({
  location_short: true,
  location_desc: true,
  log_switch: true,
  battery: true,
})
  .extend({ tags: z.array(z.string()).exactOptional().meta({ description: 'Only where it has any.' }) })
  .strict()
export type PublicDevice = z.infer<typeof PublicDevice>
