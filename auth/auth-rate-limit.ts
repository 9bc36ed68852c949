/**
 * Slows down credential guessing. Only failed attempts are counted and refused. So failures do not silence the device
 * whose name they use, nor a site that shares its address with one bad logger.
 */

import { LRUCache } from 'lru-cache'
import { networkOf } from '../store/limits/networks.ts'
import { type Bucket, oneProcess, sharedRate, TokenBuckets } from '../store/limits/token-buckets.ts'

export interface AuthRateLimit {
  /** Counts a failed attempt; true if the address is above the limit. */
  isExceeded(address: string): boolean
}

/** Beyond it, the least recently seen address is evicted: counting does not stop an attacker with more addresses. */
const addressesMax = 10_000

export function createAuthRateLimit(perMinute: number, nowMs: () => number, processes = oneProcess): AuthRateLimit {
  const rate = sharedRate({ perSecond: perMinute / 60, burst: perMinute }, processes, 1 / 60)
  const attempts = new TokenBuckets(rate, nowMs, new LRUCache<string, Bucket>({ max: addressesMax }))
  return { isExceeded: address => !attempts.take(networkOf(address)) }
}
