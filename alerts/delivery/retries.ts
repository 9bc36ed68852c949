/** When a notification that failed is tried again (Standard Webhooks 1.0). */

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

const waitsMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]
/** The delay is random, so that simultaneous failures are not retried together. */
const spread = 0.1

/** From a failed attempt, counted from 1, to the next one; undefined where none follows. `random` is from 0 to 1. */
export function retryDelayMs(attempts: number, random: number): number | undefined {
  const waitMs = waitsMs[attempts - 1]
  return waitMs === undefined ? undefined : waitMs * (1 + spread * (2 * random - 1))
}

/** A channel that has failed for so long is disabled. */
export const failingMsMax = 5 * 24 * hourMs
