/** When a group that has been looked at is due again. */

import type { Waits } from '../core/bounds.ts'

export interface GroupState {
  nowMs: number
  /** Of the last notification, the one that is made now included; NaN for none. */
  lastSentMs: number
  /** When the first of the holds on something that it owes is over; Infinity for none. */
  holdEndsMs: number
  /** Whether something that it has told fires and is not held. */
  hasFiring: boolean
  /** Whether such a one is not acknowledged. */
  hasUnacknowledged: boolean
  /** Whether something that it has told fires unacknowledged, and is held. */
  hasHeldUnacknowledged: boolean
}

export interface DueRules {
  waits: Waits
  /** Of kinds of channels that forget what they are not told again. */
  refreshMs: number | undefined
}

/** What is held is looked at again after so long at the latest. */
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

/** Whether it says again what it has told. */
export function isRepeatDue({ nowMs, lastSentMs, hasUnacknowledged }: GroupState, { waits }: DueRules): boolean {
  return hasUnacknowledged && nowMs >= lastSentMs + waits.repeatMs
}
