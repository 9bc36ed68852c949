/** The states of a device, and the times at which they change without readings. */

import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { ageLimits, ageSecondsOf, ageStateOf } from '../../analytics/reliability/freshness.ts'

/** Worst first, as in lists. `silent` is called stale or offline in the statistics, `off` is called paused. */
export const liveStates = ['silent', 'late', 'never', 'fresh', 'off'] as const
export type LiveState = (typeof liveStates)[number]

export type LiveCounts = Readonly<Record<LiveState, number>>

export function noCounts(): Record<LiveState, number> {
  return { silent: 0, late: 0, never: 0, fresh: 0, off: 0 }
}

export type LiveCadence = Pick<Cadence, 'kind' | 'expectedMs' | 'gapMs'>

export interface StateUntil {
  readonly state: LiveState
  /** The state changes then if no reading comes; Infinity when it stays. */
  readonly untilMs: number
}

/** The state of an active device whose last reading is at `lastMs`. */
export function stateByAge(lastMs: number, nowMs: number, cadence: LiveCadence): StateUntil {
  const limits = ageLimits(cadence)
  const state = ageStateOf(ageSecondsOf(lastMs, nowMs), limits)
  if (state === 'fresh' || state === 'late') return { state, untilMs: passes(lastMs, limits[state]) }
  return { state: 'silent', untilMs: Number.POSITIVE_INFINITY }
}

/** Ages count whole seconds. */
function passes(lastMs: number, limitSeconds: number): number {
  return lastMs + (Math.floor(limitSeconds) + 1) * 1000
}
