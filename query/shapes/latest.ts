/** What `latest/all/<hour>` answers. */

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
  /** Only there when the points are means over so long. */
  bucket_seconds: z.literal(bucketMinutes.map(minutes => minutes * 60)).optional(),
  data: z.array(DeviceReadings),
})
export type LatestReadings = z.infer<typeof LatestReadings>
