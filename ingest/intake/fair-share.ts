/**
 * What each credential may send in bodies of many readings: a token bucket of readings. How many a body has is known at
 * its end, so one that has begun is taken as a whole and may leave a debt; the next body waits until that is paid. The
 * burst lets the backlog of an outage through at once. Bytes that hold few readings, or none, cost as much as readings of
 * a generous length: they have to be read as well.
 */

import { type Rate, TokenBuckets } from '../../store/limits/token-buckets.ts'

export interface FairShare {
  /** In how many seconds the writer may send the next body; undefined for now. */
  waitSeconds(writerId: string): number | undefined
  /** Of a body of the writer: readings that were stored or rejected, and bytes without its compression. */
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
