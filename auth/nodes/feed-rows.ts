/** Reads and writes the rows of the feed of changes. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { ApplyChange, ChangeKind } from './change-feed.ts'

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

interface FeedPage {
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
async function readFeed(database: Transaction, after: number, changesMax: number): Promise<FeedPage> {
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

/** This node's memory can no longer be updated from the feed. */
export class FeedBroken extends Error {}

export interface FeedReader {
  /** Position up to which all changes are applied. */
  applied(): FeedHead
  /** Applies all commits. Rejects with FeedBroken, or like the listeners. Then it may be called again. */
  catchUp(database: Transaction): Promise<void>
  onChange(kind: ChangeKind, apply: ApplyChange): void
}

const changesPerRead = 1_000

/** Registries that are opened later read the changes up to `start` themselves. */
export function createFeedReader(start: FeedHead): FeedReader {
  const appliers = new Map<ChangeKind, ApplyChange>()
  let applied = start

  async function apply(changes: readonly Change[]): Promise<void> {
    const idsByKind = new Map<ChangeKind, Set<number>>()
    for (const { kind, ids } of changes) {
      const known = idsByKind.get(kind) ?? new Set()
      for (const id of ids) known.add(id)
      idsByKind.set(kind, known)
    }
    for (const [kind, applyKind] of appliers) {
      const ids = idsByKind.get(kind)
      if (ids !== undefined) await applyKind([...ids])
    }
  }

  /** True if there are further changes. */
  async function applyNext(database: Transaction): Promise<boolean> {
    const { head, changes } = await readFeed(database, applied.seq, changesPerRead)
    requireUnbroken(applied, head, changes[0]?.seq)
    await apply(changes)
    applied = { epoch: head.epoch, seq: changes.at(-1)?.seq ?? applied.seq }
    return applied.seq < head.seq
  }

  return {
    applied: () => applied,
    async catchUp(database) {
      while (await applyNext(database));
    },
    onChange(kind, apply) {
      appliers.set(kind, apply)
    },
  }
}

/** `next` is the number of the first change that is not applied. */
function requireUnbroken(applied: FeedHead, head: FeedHead, next: number | undefined): void {
  if (head.epoch !== applied.epoch || head.seq < applied.seq) {
    throw new FeedBroken(
      'PostgreSQL was restored from a backup, or used by a service other than a node: restart this node.',
    )
  }
  if (head.seq > applied.seq && next !== applied.seq + 1) {
    throw new FeedBroken(
      'This node was disconnected from PostgreSQL for longer than changes are kept: restart this node.',
    )
  }
}
