/** The time for which a state holds that is sent only on change: a door that stays shut sends nothing for days. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import { estimatedCadence } from '../../analytics/reliability/cadence.ts'
import { unknownState } from '../../analytics/state/state-runs.ts'
import type { CustomSamples } from './metric-samples.ts'

/** After a week of silence the state is unknown. */
export const stateHoldMaxMs = 7 * 86_400_000

/**
 * Undefined where values come at the device's pace, so that a missing one is a gap. A state counts as sent on change
 * where values are irregular and at least half of them differ from the one before. Synthetic samples are used only
 * where there are too few others, and never for their times, which are evenly spaced.
 */
export function stateHoldMs({
  timesMs,
  values,
  expired,
}: Pick<CustomSamples, 'timesMs' | 'values' | 'expired'>): number | undefined {
  const from = expired === undefined ? 0 : lowerBound(timesMs, expired.beforeMs)
  const kind = () => estimatedCadence(timesMs.subarray(from)).kind
  const areEnough = from === 0 || kind() !== 'unknown'
  if (!isChanging(areEnough ? values.subarray(from) : values)) return undefined
  return kind() === 'regular' ? undefined : stateHoldMaxMs
}

/** Counts pairs with two known states. */
function isChanging(values: Float64Array): boolean {
  let [pairs, differing] = [0, 0]
  for (let index = 1; index < values.length; index++) {
    const [before, value] = [values[index - 1], values[index]]
    if (before === unknownState || value === unknownState) continue
    pairs++
    if (value !== before) differing++
  }
  return 2 * differing >= pairs
}
