/** How many attempts there were, by the kind of their channel and what came of them. */

import type pg from 'pg'
import type { ChannelKindName } from '../core/channel.ts'
import type { AttemptResult } from './attempt.ts'

export type CountedResult = AttemptResult['outcome'] | 'given_up'

export interface DeliveryMeter {
  count(kind: ChannelKindName, result: CountedResult): void
  results(): { kind: ChannelKindName; result: CountedResult; count: number }[]
}

export function createDeliveryMeter(): DeliveryMeter {
  const counts = new Map<string, { kind: ChannelKindName; result: CountedResult; count: number }>()
  return {
    count(kind, result) {
      const key = `${kind} ${result}`
      const known = counts.get(key)
      if (known === undefined) counts.set(key, { kind, result, count: 1 })
      else known.count += 1
    },
    results: () => [...counts.values()],
  }
}

/** Of those that wait; undefined where none does. */
export async function oldestWaitingSeconds(pool: Pick<pg.Pool, 'query'>, nowMs: number): Promise<number | undefined> {
  const { rows } = await pool.query<{ seconds: number | null }>(
    `SELECT extract(epoch FROM to_timestamp($1::float8 / 1000) - min(created_at))::float8 AS seconds
     FROM alert_notifications WHERE state = 'waiting'`,
    [nowMs],
  )
  const seconds = rows[0]?.seconds
  return typeof seconds === 'number' ? Math.max(0, seconds) : undefined
}
