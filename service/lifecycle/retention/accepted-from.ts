/** Keeps the time from which on readings are accepted: older ones have expired. */

import type pg from 'pg'
import { type ChangeFeed, noFeed } from '../../../auth/nodes/change-feed.ts'
import { horizonMs } from './horizon.ts'

export interface AcceptedFrom {
  /** Epoch milliseconds; -Infinity if readings do not expire. */
  ms(): number
  /** Raised bound, independent of the clock; -Infinity if it was never raised. Epoch milliseconds. */
  raisedMs(): number
  /** True if readings expire, or did with earlier settings. */
  isLimited(): boolean
  /** Refuses all readings before this, for any later clock and settings. Durable and at every node when it resolves. */
  raise(ms: number): Promise<void>
}

export interface AcceptedFromOptions {
  pool: pg.Pool
  days: number | undefined
  nowMs: () => number
  feed?: ChangeFeed
}

const stepMs = 4_000

export async function openAcceptedFrom(options: AcceptedFromOptions): Promise<AcceptedFrom> {
  const { pool, days, nowMs, feed = noFeed } = options
  let raisedMs = Number.NEGATIVE_INFINITY
  async function reload(): Promise<void> {
    const { rows } = await pool.query<{ accepted_from: Date }>('SELECT accepted_from FROM retention')
    raisedMs = Math.max(raisedMs, rows[0]?.accepted_from.getTime() ?? raisedMs)
  }
  feed.onChange('accepted-from', reload)
  await reload()
  return {
    ms: () => (days === undefined ? raisedMs : Math.max(raisedMs, horizonMs(nowMs(), days))),
    raisedMs: () => raisedMs,
    isLimited: () => days !== undefined || raisedMs > Number.NEGATIVE_INFINITY,
    async raise(ms) {
      if (ms <= raisedMs) return
      const text = `INSERT INTO retention (accepted_from) VALUES ($1) ON CONFLICT (is_only)
        DO UPDATE SET accepted_from = greatest(retention.accepted_from, excluded.accepted_from)`
      await feed.commit({ pool, stepMs }, async transaction => {
        feed.note(transaction, 'accepted-from')
        await transaction.query(text, [new Date(ms)])
      })
      // Another call may have raised it further meanwhile.
      raisedMs = Math.max(raisedMs, ms)
      await feed.settle()
    },
  }
}
