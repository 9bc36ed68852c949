/** Counts attempts by kind of channel and result. */

import type pg from 'pg'
import type { ChannelKindName } from '../core/channel.ts'
import type { AttemptResult } from './attempt.ts'

type CountedResult = AttemptResult['outcome'] | 'given_up'

export interface DeliveryMeter {
  count(kind: ChannelKindName, result: CountedResult): void
  results(): { kind: ChannelKindName; result: CountedResult; count: number }[]
  /** Age of the oldest waiting notification; 0 without one. Rejects while PostgreSQL is unavailable. */
  oldestSeconds(): Promise<number>
}

export function createDeliveryMeter(pool: Pick<pg.Pool, 'query'>, nowMs: () => number): DeliveryMeter {
  const counts = new Map<string, { kind: ChannelKindName; result: CountedResult; count: number }>()
  return {
    count(kind, result) {
      const key = `${kind} ${result}`
      const known = counts.get(key)
      if (known === undefined) counts.set(key, { kind, result, count: 1 })
      else known.count += 1
    },
    results: () => [...counts.values()],
    async oldestSeconds() {
      const text = `SELECT 1000 * extract(epoch FROM min(created_at))::float8 AS ms FROM alert_notifications
        WHERE state = 'waiting'`
      const [row] = (await pool.query<{ ms: number | null }>(text)).rows
      return row?.ms == null ? 0 : Math.max(0, (nowMs() - row.ms) / 1000)
    },
  }
}
