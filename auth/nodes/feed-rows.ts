/** Reads and writes the rows of the feed. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeKind } from './change-feed.ts'

export interface Change {
  kind: ChangeKind
  ids: readonly number[]
}

/** Nodes listen to it. */
export const feedChannel = 'barograph_feed'

/** Runs last before the commit: it locks the row of the head, for `idleMsMax` if this node freezes. */
export async function appendChanges(
  transaction: Transaction,
  changes: readonly Change[],
  idleMsMax: number,
): Promise<void> {
  const text = `
    WITH head AS (
      UPDATE feed_head SET seq = seq + $2::bigint RETURNING seq
    ), added AS (
      INSERT INTO feed (seq, kind, ids)
      SELECT head.seq - $2::bigint + given.place, given.kind, given.ids
      FROM head, jsonb_to_recordset($1::jsonb) AS given (place bigint, kind text, ids bigint[])
    )
    SELECT pg_notify('${feedChannel}', ''), set_config('idle_in_transaction_session_timeout', $3, true) FROM head`
  const rows = changes.map(({ kind, ids }, at) => ({ place: at + 1, kind, ids }))
  await transaction.query(text, [JSON.stringify(rows), changes.length, String(idleMsMax)])
}

export interface FeedHead {
  epoch: string
  seq: number
}

export async function readHead(database: Transaction): Promise<FeedHead> {
  const { rows } = await database.query<FeedHead>('SELECT epoch, seq::float8 AS seq FROM feed_head')
  const [head] = rows
  if (head === undefined) throw new Error('the feed of changes has no head')
  return head
}

export interface FeedPage {
  head: FeedHead
  /** Ordered by commit. */
  changes: (Change & { seq: number })[]
}

interface FeedRow extends FeedHead {
  change: number | null
  kind: ChangeKind
  ids: string[]
}

/** Reads the head and the first changes after a number in one snapshot. */
export async function readFeed(database: Transaction, after: number, changesMax: number): Promise<FeedPage> {
  const { rows } = await database.query<FeedRow>(
    `SELECT epoch, feed_head.seq::float8 AS seq, change.seq::float8 AS change, kind, ids
     FROM feed_head LEFT JOIN LATERAL (SELECT * FROM feed WHERE seq > $1 ORDER BY seq LIMIT $2) AS change ON true
     ORDER BY change.seq`,
    [after, changesMax],
  )
  const [first] = rows
  if (first === undefined) throw new Error('the feed of changes has no head')
  const changes = rows.flatMap(({ change, kind, ids }) =>
    change === null ? [] : [{ seq: change, kind, ids: ids.map(Number) }],
  )
  return { head: { epoch: first.epoch, seq: first.seq }, changes }
}

/** Removes old changes that all live nodes have applied. */
export async function trimFeed(database: Transaction, olderThanMs: number): Promise<void> {
  await database.query(
    `DELETE FROM feed WHERE at < clock_timestamp() - $1::float8 * interval '1 ms'
       AND seq <= coalesce((SELECT min(applied) FROM nodes WHERE expires_at > clock_timestamp()), 0)`,
    [olderThanMs],
  )
}
