/** Whether a state is sent on change alone, and how long it holds then: a door that stays shut sends nothing for days. */

import type { Samples } from '../../analytics/present.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'

/** After a week of silence nobody knows. */
export const stateHoldMaxMs = 7 * 86_400_000

/**
 * Undefined where values come at the device's pace and a missing one is a gap. Sent on change: the values do not come
 * regularly, and at least half of them differ from the one before.
 */
export function stateHoldMs({ timesMs, values }: Samples): number | undefined {
  let differing = 0
  for (let index = 1; index < values.length; index++) if (values[index] !== values[index - 1]) differing++
  if (2 * differing < values.length - 1) return undefined
  return cadenceOf(timesMs, null).kind === 'regular' ? undefined : stateHoldMaxMs
}
