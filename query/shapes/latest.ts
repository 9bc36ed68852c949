/** Response of `latest/all/<hour>`. */

import { z } from 'zod'
import { bucketMinutes } from '../answers/latest-sql.ts'
import { LocalMinute, Points } from './parts.ts'

const DeviceReadings = z.strictObject({
  device: z.string(),
  device_loc: z.string(),
  humidity: Points,
  temperature: Points,
})

export const LatestReadings = z.strictObject({
  cached_at: LocalMinute,
  /** Length of the buckets; absent when the points are readings. */
  bucket_seconds: z.literal(bucketMinutes.map(minutes => minutes * 60)).optional(),
  data: z.array(DeviceReadings),
})
export type LatestReadings = z.infer<typeof LatestReadings>
