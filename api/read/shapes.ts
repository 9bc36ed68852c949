/** Shapes of answers: a device, its contact, and readings of a range. */

import { z } from 'zod'
import { Device } from '../../auth/devices/device.ts'
import { rejectionWays } from '../../ingest/rejections/rejection.ts'

export const PublicDevice = Device.pick({
  location_short: true,
  location_desc: true,
  log_switch: true,
  battery: true,
})
  .extend({ tags: z.array(z.string()).exactOptional().meta({ description: 'Only where it has any.' }) })
  .strict()
export type PublicDevice = z.infer<typeof PublicDevice>

const Attempt = z.strictObject({
  at: z.iso.datetime().meta({ description: 'The latest time.' }),
  first_at: z.iso.datetime(),
  way: z.enum(rejectionWays),
  sender: z.string().meta({ description: 'The device, key or address of the sender.' }),
  reason: z.string(),
  count: z.int().positive().meta({ description: 'Attempts with the same way, sender and reason.' }),
})
export type Attempt = z.infer<typeof Attempt>

export const DeviceContact = z.strictObject({
  device: z.string(),
  neighbours: z
    .strictObject({
      tag: z.string().nullable().meta({ description: 'The tag that the devices share; null for all devices.' }),
      silent: z.int().nonnegative(),
      reporting: z.int().nonnegative(),
    })
    .nullable()
    .meta({
      description: 'Other devices by state; null for a reader of this device alone, and while states are unknown.',
    }),
  attempts: z
    .strictObject({
      since: z.iso.datetime().meta({ description: 'Start of the service, which begins the lists.' }),
      rejected: z
        .array(Attempt)
        .meta({ description: 'Its readings, by its own credential or an API key, newest first.' }),
      failed_sign_ins: z
        .array(Attempt)
        .meta({ description: 'Requests in its name without a valid credential, newest first.' }),
    })
    .nullable()
    .meta({ description: "For the device's owner and administrators; null for other readers." }),
})
export type DeviceContact = z.infer<typeof DeviceContact>

export const RangeReadings = z
  .array(z.object({ ts: z.int().meta({ description: 'Milliseconds since 1970' }) }).catchall(z.number()))
  .meta({
    id: 'RangeReadings',
    description: 'Missing values are left out. With step, each metric has four figures.',
  })
export type RangeReadings = z.infer<typeof RangeReadings>
