/** How many readings of the window are good, suspect or missing, and which tests found them suspect. */

import { checkQuality } from '../../analytics/quality/quality.ts'
import { qualityLimits } from '../../analytics/quality/quality-limits.ts'
import { byMetric, type StatsWindow } from './window.ts'

export function qualityPart({ timesMs, values, cadence }: StatsWindow) {
  return byMetric(metric => checkQuality(timesMs, values[metric], qualityLimits[metric], cadence.stretches).counts)
}
