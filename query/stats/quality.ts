/** How many readings of the window are good, suspect or missing, and which tests found them suspect. */

import { checkQuality } from '../../analytics/quality/quality.ts'
import { type AnalysedDevice, deviceLimits } from '../analysed-device.ts'
import { byMetric, type StatsWindow } from './window.ts'

export function qualityPart({ timesMs, values, cadence }: StatsWindow, device: AnalysedDevice) {
  return byMetric(metric => {
    const limits = deviceLimits(device, metric)
    return checkQuality(timesMs, values[metric], limits, cadence.stretches).counts
  })
}
