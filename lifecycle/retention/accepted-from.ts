/** From which time on readings are accepted: older ones have expired. */

import type pg from 'pg'
import { horizonMs } from './horizon.ts'

export interface AcceptedFrom {
  /** Epoch milliseconds; -Infinity where readings do not expire. */
  ms(): number
  /** What it was raised to, whatever the clock says; -Infinity when it never was. Epoch milliseconds. */
  raisedMs(): number
  /** Whether readings expire, or did with settings before. */
  isLimited(): boolean
  /** Never accepts anything before this again, whatever the clock and the settings say later. Durable when it resolves. */
  raise(ms: number): Promise<void>
}

export interface AcceptedFromOptions {
  pool: Pick<pg.Pool, 'query'>
  /** RETENTION_DAYS */
  days: number | undefined
  nowMs: () => number
}

export async function openAcceptedFrom({ pool, days, nowMs }: AcceptedFromOptions): Promise<AcceptedFrom> {
  const { rows } = await pool.query<{ accepted_from: Date }>('SELECT accepted_from FROM retention')
  let raisedMs = rows[0]?.accepted_from.getTime() ?? Number.NEGATIVE_INFINITY
  return {
    ms: () => (days === undefined ? raisedMs : Math.max(raisedMs, horizonMs(nowMs(), days))),
    raisedMs: () => raisedMs,
    isLimited: () => days !== undefined || raisedMs > Number.NEGATIVE_INFINITY,
    async raise(ms) {
      if (ms <= raisedMs) return
      const text = `INSERT INTO retention (accepted_from) VALUES ($1) ON CONFLICT (is_only)
        DO UPDATE SET accepted_from = greatest(retention.accepted_from, excluded.accepted_from)`
      await pool.query(text, [new Date(ms)])
      // Another call may have raised it further meanwhile.
      raisedMs = Math.max(raisedMs, ms)
    },
  }
}
