/** Rate limit of single readings for each device. */

import type { Device } from '../../auth/devices/device.ts'
import { type Bucket, type Rate, TokenBuckets } from '../../store/limits/token-buckets.ts'
import type { IntakeOptions } from './intake.ts'

export function createDeviceRate(rate: Rate | (() => Rate), nowMs: () => number): IntakeOptions['isWithinRate'] {
  const readings = new TokenBuckets(rate, nowMs, new WeakMap<Device, Bucket>())
  return device => readings.take(device)
}
