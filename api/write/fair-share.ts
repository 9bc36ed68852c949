/**
 * What each credential may send in bodies of many readings: a token bucket of readings. How many a body has is known at
 * its end, so one that has begun is taken as a whole and may leave a debt; the next body waits until that is paid. The
 * burst lets the backlog of an outage through at once. Bytes that hold few readings, or none, cost as much as readings of
 * a generous length: they have to be read as well.
 */

import { type Bucket, createBucket, isFull, type Rate, spendTokens, tokenWaitMs } from '../http/token-bucket.ts'

export interface FairShare {
  /** In how many seconds the writer may send the next body; undefined for now. */
  waitSeconds(writerId: string): number | undefined
  /** Of a body of the writer: readings that were stored or rejected, and bytes without its compression. */
  charge(writerId: string, readings: number, bytes?: number): void
}

/** A full bucket is as good as none: beyond this number, and twice as many as were left the last time, these are dropped. */
const bucketsMin = 1000
/** As JSON with a name, a time and all metrics a reading has some 200. */
const bytesPerReading = 256

export function createFairShare(rate: Rate, nowMs: () => number): FairShare {
  const buckets = new Map<string, Bucket>()
  let bucketsMax = bucketsMin

  function dropFull(): void {
    for (const [id, bucket] of buckets) if (isFull(bucket, rate, nowMs())) buckets.delete(id)
    bucketsMax = Math.max(bucketsMin, 2 * buckets.size)
  }

  return {
    waitSeconds(writerId) {
      const bucket = buckets.get(writerId)
      const waitMs = bucket === undefined ? 0 : tokenWaitMs(bucket, rate, nowMs())
      return waitMs > 0 ? Math.ceil(waitMs / 1000) : undefined
    },
    charge(writerId, readings, bytes = 0) {
      if (buckets.size >= bucketsMax) dropFull()
      const bucket = buckets.get(writerId) ?? createBucket(rate, nowMs())
      spendTokens(bucket, rate, Math.max(readings, Math.ceil(bytes / bytesPerReading)), nowMs())
      buckets.set(writerId, bucket)
    },
  }
}
