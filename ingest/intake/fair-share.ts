/**
 * Limits the readings of each credential in bulk bodies by a token bucket. The number of readings is known at the end
 * of a body. So a started body is taken completely and may overdraw the bucket. The next body waits until it is
 * refilled. The burst admits the backlog of an outage at once. Bytes with few readings, or none, cost as much as
 * generously long readings: they have to be read as well.
 */

import { type Rate, TokenBuckets } from '../../store/limits/token-buckets.ts'

export interface FairShare {
  /** Seconds until the writer may send the next body. Undefined for now. */
  waitSeconds(writerId: string): number | undefined
  /** Charges a body of the writer: its stored and rejected readings, and its uncompressed bytes. */
  charge(writerId: string, readings: number, bytes?: number): void
}

/** As JSON with a name, a time and all metrics a reading has some 200. */
const bytesPerReading = 256

export function createFairShare(rate: Rate | (() => Rate), nowMs: () => number): FairShare {
  const readingsOf = new TokenBuckets<string>(rate, nowMs)
  return {
    waitSeconds(writerId) {
      const waitMs = readingsOf.waitMs(writerId)
      return waitMs > 0 ? Math.ceil(waitMs / 1000) : undefined
    },
    charge(writerId, readings, bytes = 0) {
      readingsOf.spend(writerId, Math.max(readings, Math.ceil(bytes / bytesPerReading)))
    },
  }
}
