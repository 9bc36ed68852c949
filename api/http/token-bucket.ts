/** Token buckets: a rate in the long run, and a burst at once. */

export interface Bucket {
  tokens: number
  filledAtMs: number
}

export interface Rate {
  perSecond: number
  burst: number
}

export function createBucket(rate: Rate, nowMs: number): Bucket {
  return { tokens: rate.burst, filledAtMs: nowMs }
}

/** Takes a token; false when there is none. */
export function takeToken(bucket: Bucket, rate: Rate, nowMs: number): boolean {
  const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
  bucket.tokens = Math.min(rate.burst, bucket.tokens + (elapsedMs / 1000) * rate.perSecond)
  bucket.filledAtMs = nowMs
  if (bucket.tokens < 1) return false
  bucket.tokens--
  return true
}
