/**
 * Slows down who guesses credentials. Only failing attempts are counted and only they are refused, so nobody can
 * silence a device by failing in its name, nor one bad logger a whole site behind its address.
 */

import { LRUCache } from 'lru-cache'
import { networkOf } from '../store/limits/networks.ts'
import { oneProcess, sharedRate } from '../store/limits/shared-rate.ts'
import { type Bucket, TokenBuckets } from '../store/limits/token-buckets.ts'

export interface AuthRateLimit {
  /** Counts a failing attempt; true when this address has had too many. */
  isExceeded(address: string): boolean
}

/** The least recently seen address is forgotten beyond this: an attacker with more addresses is not stopped by counting. */
const addressesMax = 10_000

export function createAuthRateLimit(perMinute: number, nowMs: () => number, processes = oneProcess): AuthRateLimit {
  const rate = sharedRate({ perSecond: perMinute / 60, burst: perMinute }, processes, 1 / 60)
  const attempts = new TokenBuckets(rate, nowMs, new LRUCache<string, Bucket>({ max: addressesMax }))
  return { isExceeded: address => !attempts.take(networkOf(address)) }
}
