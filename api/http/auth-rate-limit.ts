/**
 * Slows down who guesses credentials. Only failing attempts are counted and only they are refused, so nobody can
 * silence a device by failing in its name, nor one bad logger a whole site behind its address.
 */

import { LRUCache } from 'lru-cache'
import { networkOf } from './networks.ts'
import { type Bucket, createBucket, type Rate, takeToken } from './token-bucket.ts'

export interface AuthRateLimit {
  /** Counts a failing attempt; true when this address has had too many. */
  isExceeded(address: string): boolean
}

/** The least recently seen address is forgotten beyond this: an attacker with more addresses is not stopped by counting. */
const addressesMax = 10_000

export function createAuthRateLimit(perMinute: number, nowMs: () => number): AuthRateLimit {
  const rate: Rate = { perSecond: perMinute / 60, burst: perMinute }
  const buckets = new LRUCache<string, Bucket>({ max: addressesMax })
  return {
    isExceeded(address) {
      const key = networkOf(address)
      const bucket = buckets.get(key) ?? createBucket(rate, nowMs())
      buckets.set(key, bucket)
      return !takeToken(bucket, rate, nowMs())
    },
  }
}
