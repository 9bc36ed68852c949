/** Token buckets: a rate in the long run, and a burst at once. */

export interface Bucket {
  /** Below zero for a bucket that owes some. */
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
  fill(bucket, rate, nowMs)
  if (bucket.tokens < 1) return false
  bucket.tokens--
  return true
}

/** Takes so many tokens, whether they are there or not. */
export function spendTokens(bucket: Bucket, rate: Rate, count: number, nowMs: number): void {
  fill(bucket, rate, nowMs)
  bucket.tokens -= count
}

/** Milliseconds until there is a token. */
export function tokenWaitMs(bucket: Bucket, rate: Rate, nowMs: number): number {
  fill(bucket, rate, nowMs)
  return Math.max(0, ((1 - bucket.tokens) / rate.perSecond) * 1000)
}

/** Whether it is like a new one. */
export function isFull(bucket: Bucket, rate: Rate, nowMs: number): boolean {
  fill(bucket, rate, nowMs)
  return bucket.tokens === rate.burst
}

function fill(bucket: Bucket, rate: Rate, nowMs: number): void {
  const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
  bucket.tokens = Math.min(rate.burst, bucket.tokens + (elapsedMs / 1000) * rate.perSecond)
  bucket.filledAtMs = nowMs
}
