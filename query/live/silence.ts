/** The measures of a device's silence, for alerts. */

import { ageLimits } from '../../analytics/reliability/freshness.ts'
import { hourMs, shareOfHour } from './hours.ts'
import type { LiveDevice, LiveFleet } from './live-fleet.ts'
import { kindAt, namedCadence } from './live-state.ts'

export interface DeviceSilence {
  /** Time of the newest reading, epoch milliseconds; NaN without one. It may be ahead of our clock. */
  readonly lastMs: number
  /** Ages up to which the device counts as late, as expected, and as stale. */
  readonly lateSeconds: number
  readonly freshSeconds: number
  readonly staleSeconds: number
  /** NaN for an irregular device. */
  readonly expectedMs: number
  readonly isOff: boolean
}

export function silenceOf(fleet: LiveFleet, slot: number): DeviceSilence {
  const { lastUs } = fleet.columns()
  const last = lastUs[slot] as number
  const cadence = fleet.cadence(slot)
  const { late, fresh, stale } = ageLimits(namedCadence(cadence))
  return {
    lastMs: last === Number.NEGATIVE_INFINITY ? Number.NaN : last / 1000,
    lateSeconds: late,
    freshSeconds: fresh,
    staleSeconds: stale,
    expectedMs: cadence.kind === kindAt.regular ? cadence.expectedMs : Number.NaN,
    isOff: !(fleet.device(slot) as LiveDevice).log_switch,
  }
}

/** Share of the expected readings in the full hour that began then; NaN where unknown. */
export function hourShareOf(fleet: LiveFleet, slot: number, hourBeginMs: number): number {
  if (fleet.cadence(slot).kind !== kindAt.regular) return Number.NaN
  return shareOfHour(fleet.columns(), slot, Math.floor(hourBeginMs / hourMs))
}
