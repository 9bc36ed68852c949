/** The expected interval of a metric: its device's, or the one of its own values where they come less often. */

import { type Cadence, cadenceOf } from '../../analytics/reliability/cadence.ts'

/** A metric with an interval this many times longer is not in every reading. */
const rarerMin = 1.5

/** Estimates the cadence from the times of its values. */
export function metricCadence(timesMs: Float64Array, device: Cadence): Cadence {
  const own = cadenceOf(timesMs, null)
  if (own.expectedMs === null) return device
  return device.expectedMs === null || own.expectedMs > rarerMin * device.expectedMs ? own : device
}
