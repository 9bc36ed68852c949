/** How often a metric is expected: with each reading of its device, or by its own values where it comes less often. */

import { type Cadence, cadenceOf } from '../../analytics/reliability/cadence.ts'

/** Expected so much less often than the readings, a metric is not in each of them. */
const rarerMin = 1.5

/** Of the times of its values. */
export function metricCadence(timesMs: Float64Array, device: Cadence): Cadence {
  const own = cadenceOf(timesMs, null)
  if (own.expectedMs === null) return device
  return device.expectedMs === null || own.expectedMs > rarerMin * device.expectedMs ? own : device
}
