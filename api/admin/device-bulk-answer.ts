/** What the admin API answers to a change of many devices. */

import { z } from 'zod'
import { Rotated } from '../../auth/devices/device.ts'

/** A change takes some milliseconds. */
export const bulkDevicesMax = 500
/** Why nothing was done of a device that came after a failure that ends them all. */
export const notTried = 'not tried'

export const DeviceBulkAnswer = z.object({
  done: z.int().meta({ description: 'Changed devices' }),
  failed: z.array(z.object({ device: z.string(), reason: z.string() })),
  issued: z.array(Rotated).meta({ description: 'The new passwords, this once' }),
})
export type DeviceBulkAnswer = z.infer<typeof DeviceBulkAnswer>
