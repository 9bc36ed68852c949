/** Facts of the live state on devices, for the evaluation of their silence. */

import type { DeviceSilence } from '../../query/live/silence.ts'

export interface DeviceFacts {
  readonly number: number
  /** Time of the newest reading by the device's clock, epoch microseconds; NaN without one. */
  readonly seenUs: number
  /** Time of the newest reading, at most its receipt, epoch milliseconds; NaN without one. */
  readonly lastMs: number
  /** Age from which the device counts as silent; Infinity for one that never does. */
  readonly lateSeconds: number
  /** Age up to which it is as expected. */
  readonly freshSeconds: number
}

/**
 * No reading counts as received later than now: one that was is of before our clock was set back, and later ones are
 * not late after it. `queuedUs`: of the oldest reading of the device that is still in the intake. The live state knows
 * it already. Null for a device that is not there.
 */
export function deviceFactsOf(
  number: number,
  silence: DeviceSilence | undefined,
  { nowMs, queuedUs = Number.POSITIVE_INFINITY }: { nowMs: number; queuedUs?: number | undefined },
): DeviceFacts | null {
  if (silence === undefined) return null
  const { lastMs, lateSeconds, freshSeconds, isOff } = silence
  const seenUs = lastMs * 1000
  const isUnknown = seenUs >= queuedUs || lastMs > nowMs
  return {
    number,
    seenUs: isUnknown ? Number.NaN : seenUs,
    lastMs: Math.min(lastMs, nowMs),
    lateSeconds: isOff ? Number.POSITIVE_INFINITY : lateSeconds,
    freshSeconds,
  }
}
