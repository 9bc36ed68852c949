/** When a group that has been looked at is due again. */

import type { Waits } from '../core/bounds.ts'

export interface GroupState {
  nowMs: number
  /** Time of the last notification, including the present one; NaN without one. */
  lastSentMs: number
  /** When the first of the holds on something that it owes is over; Infinity for none. */
  holdEndsMs: number
  /** True while a notified alert fires and is not held. */
  hasFiring: boolean
  /** True while one of these is not acknowledged. */
  hasUnacknowledged: boolean
  /** True while a notified alert fires unacknowledged and is held. */
  hasHeldUnacknowledged: boolean
}

export interface DueRules {
  waits: Waits
  /** Repeat interval of kinds whose receivers expire an alert without repeats. */
  refreshMs: number | undefined
}

/** Longest time between checks of a held alert. */
export const reviewMs = 300_000

/** Undefined where it has nothing more to say. */
export function nextDueMs(state: GroupState, { waits, refreshMs }: DueRules): number | undefined {
  const { nowMs, lastSentMs, holdEndsMs, hasFiring, hasUnacknowledged, hasHeldUnacknowledged } = state
  const repeatAtMs = lastSentMs + waits.repeatMs
  const possible = [
    Number.isNaN(lastSentMs) ? holdEndsMs : Math.max(holdEndsMs, lastSentMs + waits.groupIntervalMs),
    refreshMs !== undefined && hasFiring ? lastSentMs + refreshMs : Number.POSITIVE_INFINITY,
    refreshMs === undefined && hasUnacknowledged ? repeatAtMs : Number.POSITIVE_INFINITY,
    hasHeldUnacknowledged ? Math.max(repeatAtMs, nowMs + reviewMs) : Number.POSITIVE_INFINITY,
  ]
  const dueMs = Math.min(...possible)
  return dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs
}

/** True where the group repeats its notification. */
export function isRepeatDue({ nowMs, lastSentMs, hasUnacknowledged }: GroupState, { waits }: DueRules): boolean {
  return hasUnacknowledged && nowMs >= lastSentMs + waits.repeatMs
}
