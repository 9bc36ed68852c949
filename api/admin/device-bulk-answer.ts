/** Declares the admin API's answer to a change of many devices. */

import { z } from 'zod'
import { Rotated } from '../../auth/devices/device.ts'

/** Each change takes some milliseconds. */
export const bulkDevicesMax = 500
/** Reason for devices behind a failure that ends the whole request. */
export const notTried = 'not tried'

export const DeviceBulkAnswer = z.object({
  done: z.int().meta({ description: 'Changed devices' }),
  failed: z.array(z.object({ device: z.string(), reason: z.string() })),
  issued: z.array(Rotated).meta({ description: 'The new passwords, shown only once' }),
})
export type DeviceBulkAnswer = z.infer<typeof DeviceBulkAnswer>
