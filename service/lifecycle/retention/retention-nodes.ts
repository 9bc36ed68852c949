/** Coordinates retention between nodes: one expires days and publishes its state, the others follow and report it. */

import type pg from 'pg'
import type { ChangeFeed } from '../../../auth/nodes/change-feed.ts'
import type { Log } from '../../../store/log.ts'
import type { WaitingDays } from './due-days.ts'
import { dayText } from './expired-days.ts'
import { dayMs } from './horizon.ts'

export interface RetentionNodes {
  /** True if this node expires days. */
  leads(): boolean
  /** True if it has the marks of all other nodes. */
  isCurrent(): boolean
  /** Resolves when all nodes that admit requests have the replica's bound of expired days. Epoch milliseconds. */
  notify(replica: number, beforeMs: number): Promise<void>
  /** Calls the listener with notifications of other nodes. */
  onNotified(listener: (replica: number, beforeMs: number) => void): void
  publish(state: RetentionState): Promise<void>
  /** Last published state; empty before. */
  read(): Promise<Partial<RetentionState>>
}

interface RetentionNodesOptions {
  pool: pg.Pool
  feed: ChangeFeed
  leads: () => boolean
}

const stepMs = 4_000

/** The feed has single numbers: the start of a day, plus the number of the replica less 1 as milliseconds. */
const toId = (replica: number, beforeMs: number) => beforeMs + replica - 1

export function createRetentionNodes({ pool, feed, leads }: RetentionNodesOptions): RetentionNodes {
  const query = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    pool.query<Row>({ text, values, query_timeout: stepMs } as pg.QueryConfig)
  const listeners: ((replica: number, beforeMs: number) => void)[] = []
  feed.onChange('expired', ids => {
    for (const id of ids) {
      const beforeMs = Math.floor(id / dayMs) * dayMs
      for (const listener of listeners) listener(id - beforeMs + 1, beforeMs)
    }
  })
  return {
    leads,
    isCurrent: feed.isCurrent,
    async notify(replica, beforeMs) {
      const id = toId(replica, beforeMs)
      await feed.commit({ pool, stepMs }, async transaction => feed.note(transaction, 'expired', [id]))
      await feed.settle()
    },
    onNotified: listener => void listeners.push(listener),
    async publish(state) {
      const text = `INSERT INTO retention_state (state) VALUES ($1)
        ON CONFLICT (is_only) DO UPDATE SET state = excluded.state`
      await query(text, [JSON.stringify(state)])
    },
    async read() {
      const { rows } = await query<{ state: RetentionState }>('SELECT state FROM retention_state')
      return rows[0]?.state ?? {}
    },
  }
}

export interface RetentionState {
  days: number | undefined
  /** The oldest day with raw readings, epoch milliseconds; undefined until it is known, and without readings. */
  oldestDayMs: number | undefined
  /** Days whose raw readings were removed since the start. */
  expiredDays: number
  /** Epoch milliseconds; undefined before the first run. */
  lastRunMs: number | undefined
  /** Error of the last run. */
  fault: string | undefined
  /** Due days that stay until a person confirms, or their condition is met. */
  waiting: WaitingDays | undefined
}

export const stateAtStart = (days: number | undefined): RetentionState => ({
  days,
  oldestDayMs: undefined,
  expiredDays: 0,
  lastRunMs: undefined,
  fault: undefined,
  waiting: undefined,
})

export function logWaiting(log: Log, waiting: WaitingDays | undefined): void {
  if (waiting === undefined) {
    log.info('no raw readings are pending expiry any more')
    return
  }
  const { fromMs, beforeMs, days, reason } = waiting
  const fields = { days, from: dayText(fromMs), before: dayText(beforeMs) }
  const remedy = `if the clock is right: barograph retention confirm ${fields.before}`
  if (reason === 'archive_unavailable')
    log.warn(fields, 'raw readings are due and stay, since the archive is unavailable')
  else if (reason === 'several_days')
    log.warn(fields, `raw readings of several days are due at once and stay; ${remedy}`)
  else log.warn(fields, `raw readings are due and stay, since no newer readings came; ${remedy}`)
}
