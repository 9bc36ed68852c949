/** How many readings of the window are good, suspect or missing, and which tests found them suspect. */

import { checkQuality } from '../../analytics/quality/quality.ts'
import { qualityLimits } from '../../analytics/quality/quality-limits.ts'
import { byMetric, type StatsWindow } from './window.ts'

/** While it is unknown how far apart readings should be, no two of them are neighbours. */
const gapMsUnknown = 0

export function qualityPart({ timesMs, values, cadence }: StatsWindow) {
  const gapMs = cadence.gapMs ?? gapMsUnknown
  return byMetric(metric => checkQuality(timesMs, values[metric], qualityLimits[metric], gapMs).counts)
}
