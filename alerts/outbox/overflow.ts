/** No more notifications wait than there may be: beyond that, the oldest of the least severity are given up. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'

export interface Overflow {
  /** The caller calls this after it has made notifications. */
  check(): Promise<void>
  /** Number of dropped notifications since the start. */
  givenUp(): number
}

export interface OverflowOptions {
  pool: pg.Pool
  nowMs: () => number
  waitingMax: number
  log: Pick<Log, 'warn'>
}

const logEveryMs = 60_000

export function createOverflow({ pool, nowMs, waitingMax, log }: OverflowOptions): Overflow {
  let total = 0
  let unlogged = 0
  let loggedMs = Number.NEGATIVE_INFINITY

  return {
    async check() {
      const excess = (await countWaiting(pool)) - waitingMax
      if (excess <= 0) return
      const count = await giveUp(pool, excess, nowMs())
      total += count
      unlogged += count
      if (Math.abs(nowMs() - loggedMs) < logEveryMs) return
      log.warn(
        { notifications: unlogged, waitingMax },
        'too many notifications wait, the oldest of the least severity are given up',
      )
      loggedMs = nowMs()
      unlogged = 0
    },
    givenUp: () => total,
  }
}

async function countWaiting(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM alert_notifications WHERE state = 'waiting'",
  )
  return rows[0]?.count ?? 0
}

async function giveUp(pool: pg.Pool, count: number, nowMs: number): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE alert_notifications SET state = 'given_up', ended_at = to_timestamp($2::float8 / 1000)
     WHERE state = 'waiting' AND id IN (
       SELECT id FROM alert_notifications WHERE state = 'waiting'
       ORDER BY array_position(ARRAY['info', 'warning', 'critical'], severity), id LIMIT $1)`,
    [count, nowMs],
  )
  return rowCount ?? 0
}
