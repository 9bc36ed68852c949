/** What the live state knows of devices, as the evaluation of their silence needs it. */

import type { DeviceSilence } from '../../query/live/silence.ts'
import type { DeviceFacts } from './device-times.ts'

/**
 * No reading was heard later than now: one that was is of before our clock was set back, and what comes is not late after it.
 * `queuedUs`: of the oldest reading of the device that the evaluation is still to be told; the live state knows it already. Null for
 * a device that is not there.
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
