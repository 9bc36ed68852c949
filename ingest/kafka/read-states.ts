/** Reads what the forwarders of all topics publish in PostgreSQL. */

import type pg from 'pg'
import type { ForwardStatus } from './forward-status.ts'
import type { PublishedState } from './published-state.ts'

/** With what a person is told of the forwarder. */
export interface ForwardedState extends PublishedState {
  readonly status: ForwardStatus
}

const answerMsMax = 2000
const sql = `SELECT topic, coalesce(committed_offset, 0)::float8 AS committed, status FROM shard_topics
  WHERE status IS NOT NULL`

/** By topic; those that nobody has forwarded yet have none. */
export async function readForwardedStates(client: pg.Client): Promise<ReadonlyMap<string, ForwardedState>> {
  const { rows } = await client.query<{ topic: string; committed: number; status: ForwardStatus }>({
    text: sql,
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  return new Map(
    rows.map(({ topic, committed, status }) => {
      const { tenure, losses, applied, sequenced } = status
      return [topic, { tenure, losses, committed, applied, sequenced, status }]
    }),
  )
}
