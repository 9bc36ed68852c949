/** How many readings of the window are good, suspect or missing, and which tests found them suspect. */

import { checkQuality } from '../../analytics/quality/quality.ts'
import { type QualityLimits, qualityLimits } from '../../analytics/quality/quality-limits.ts'
import { metrics } from '../../store/tables.ts'
import { type AnalysedDevice, deviceLimits } from '../analysed-device.ts'
import type { FurtherMetric } from '../further-metric.ts'
import { byMetric, type StatsWindow } from './window.ts'

export function qualityPart(window: StatsWindow, device: AnalysedDevice, further: readonly FurtherMetric[]) {
  const settings = new Map(further.map(({ name, quality }) => [name, quality]))
  const limitsOf = (name: string): QualityLimits => {
    const metric = metrics.find(metric => metric === name)
    return metric === undefined ? qualityLimits(name, null, settings.get(name) ?? {}) : deviceLimits(device, metric)
  }
  const { timesMs, cadence } = window
  return byMetric(window, ({ name, values }) => {
    return checkQuality(timesMs, values, limitsOf(name), cadence.stretches).counts
  })
}
