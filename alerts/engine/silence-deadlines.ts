/** When which pair of a rule on silence is to be looked at; see query/live/deadlines.ts. */

import { stillFromMs } from '../core/flapping.ts'
import type { PairState } from '../core/pair.ts'
import type { RuleCore } from '../core/rule.ts'
import type { DeviceTimes } from './device-times.ts'

/**
 * From when on a device counts as silent: so long after its last reading, and after the end of an outage of ours at which one
 * might have been missed, with the time that it may take to the next one. Infinity for one that was never heard, or does not log.
 */
export function silentFromMs({ condition }: RuleCore, times: DeviceTimes, slot: number, outageEndMs: number): number {
  const lastMs = times.lastMs[slot] as number
  const lateMs = times.lateMs[slot] as number
  if (Number.isNaN(lastMs) || lateMs === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY
  const seconds = 'after_seconds' in condition ? condition.after_seconds : undefined
  const heardMs = Math.max(lastMs, outageEndMs + (times.freshMs[slot] as number))
  return heardMs + (seconds === undefined ? lateMs : seconds * 1000)
}

/** When time alone changes a pair of a rule on silence, which becomes silent at `dueMs`. */
export function nextLookMs({ for_seconds }: RuleCore, state: PairState | undefined, dueMs: number): number {
  switch (state?.phase ?? 'idle') {
    case 'pending':
      return dueMs + for_seconds * 1000
    case 'firing':
      return state?.flapping ? stillFromMs(state.changesMs) : Number.POSITIVE_INFINITY
    default:
      return dueMs
  }
}

/** When time alone changes the alert of a site of which no device changes. */
export function nextSiteLookMs({ for_seconds, keep_firing_seconds }: RuleCore, state: PairState | undefined): number {
  if (state?.phase === 'pending') return state.sinceMs + for_seconds * 1000
  const stillMs = state?.flapping ? stillFromMs(state.changesMs) : Number.POSITIVE_INFINITY
  return state?.phase === 'clearing' ? Math.min(stillMs, state.sinceMs + keep_firing_seconds * 1000) : stillMs
}
