/** What each device may send in single readings: a token bucket of its own. */

import type { Device } from '../../auth/devices/device.ts'
import { type Bucket, createBucket, type Rate, takeToken } from '../http/token-bucket.ts'
import type { IntakeOptions } from './intake.ts'

export function createDeviceRate(rate: Rate, nowMs: () => number): IntakeOptions['isWithinRate'] {
  const buckets = new WeakMap<Device, Bucket>()
  return device => {
    let bucket = buckets.get(device)
    if (bucket === undefined) {
      bucket = createBucket(rate, nowMs())
      buckets.set(device, bucket)
    }
    return takeToken(bucket, rate, nowMs())
  }
}
