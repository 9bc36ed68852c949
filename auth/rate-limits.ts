/** Limits of attempts: by kind in PostgreSQL, and failed credentials in memory. */

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { networkOf } from '../store/limits/networks.ts'
import { type Bucket, oneProcess, sharedRate, TokenBuckets } from '../store/limits/token-buckets.ts'

export interface RateLimit {
  /** Counted action: `register`, `reset-request`. */
  kind: string
  countMax: number
  windowMs: number
}

export interface RateLimits {
  /** Counts one action. Undefined within the limit, otherwise the seconds until the next attempt. */
  take(limit: RateLimit, key: string): Promise<number | undefined>
  /** Cancels a count within the limit. */
  giveBack(limit: RateLimit, key: string): Promise<void>
}

interface Count {
  count: number
  ends_ms: number
}

export function createRateLimits(pool: Pick<pg.Pool, 'query'>, nowMs: () => number): RateLimits {
  return {
    async take({ kind, countMax, windowMs }, key) {
      const now = nowMs()
      const { rows } = await pool.query<Count>(
        `INSERT INTO rate_limits AS known (kind, key, count, ends_at)
         VALUES ($1, $2, 1, to_timestamp(($3::float8 + $4::float8) / 1000))
         ON CONFLICT (kind, key) DO UPDATE SET
           count = CASE WHEN known.ends_at <= to_timestamp($3::float8 / 1000) THEN 1 ELSE least(known.count, $5) + 1 END,
           ends_at = CASE WHEN known.ends_at <= to_timestamp($3::float8 / 1000) THEN excluded.ends_at ELSE known.ends_at END
         RETURNING count, (date_part('epoch', ends_at) * 1000)::float8 AS ends_ms`,
        [kind, digestOfKey(key), now, windowMs, countMax],
      )
      const [row] = rows
      if (row === undefined || row.count <= countMax) return undefined
      return secondsUntil(row, now, windowMs)
    },
    async giveBack({ kind, countMax }, key) {
      // The limit plus one stands for all refused actions.
      await pool.query(
        `UPDATE rate_limits SET count = least(count, $3) - 1
         WHERE kind = $1 AND key = $2 AND count > 0 AND ends_at > to_timestamp($4::float8 / 1000)`,
        [kind, digestOfKey(key), countMax, nowMs()],
      )
    },
  }
}

/** A clock that was set back must not announce a longer wait than the window. */
function secondsUntil({ ends_ms: endsMs }: Count, nowMs: number, windowMs: number): number {
  return Math.max(1, Math.ceil(Math.min(endsMs - nowMs, windowMs) / 1000))
}

/** A digest hides people's addresses and bounds their length. */
export function digestOfKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

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
