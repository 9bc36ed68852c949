/** Reads and writes the rows of nodes: their leases by PostgreSQL's clock. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { type FeedHead, feedChannel } from './feed-rows.ts'

/** A digest of each setting and secret, by name. */
export type NodeSettings = Readonly<Record<string, string>>

export interface Node {
  id: string
  role: string
  version: string
  host: string
  settings: NodeSettings
  /** Digests of settings that should be the same at all nodes. A difference is reported, not refused. */
  advised: NodeSettings
}

export interface NodeRow extends Node {
  /** Offset of its clock to PostgreSQL's clock; undefined until it was measured. */
  clockAheadMs: number | undefined
}

export interface RenewedLease {
  /** PostgreSQL's time of the renewal. */
  postgresMs: number
  /** Number of other nodes that take requests. */
  others: number
  differing: NodeSettings[]
}

// An arbitrary fixed number: "barojoin" in ASCII.
const joinLock = '7089073111310494062'

/**
 * Blocks joins of other nodes until the end of the transaction, for at most `idleMsMax` if this node freezes. After its
 * commit, the others count nodes again.
 */
export async function lockJoining(transaction: Transaction, idleMsMax: number): Promise<void> {
  await transaction.query(
    `SELECT set_config('idle_in_transaction_session_timeout', $2, true), pg_advisory_xact_lock($1::bigint),
       pg_notify('${feedChannel}', '')`,
    [joinLock, String(idleMsMax)],
  )
}

/** Settings of other nodes with valid leases. */
export async function readLiveSettings(database: Transaction, id: string): Promise<NodeSettings[]> {
  const { rows } = await database.query<{ settings: NodeSettings }>(
    'SELECT settings FROM nodes WHERE id <> $1 AND expires_at > clock_timestamp()',
    [id],
  )
  return rows.map(({ settings }) => settings)
}

/**
 * Renews the lease of a node that has applied all changes up to `head`; undefined if there are more. It waits for
 * uncommitted changes and blocks new ones, so that each change is either applied, or sees the new lease.
 */
export async function renewLease(
  database: Transaction,
  { id, role, version, host, settings, advised, clockAheadMs }: NodeRow,
  head: FeedHead,
  leaseMs: number,
): Promise<RenewedLease | undefined> {
  const { rows } = await database.query<RenewedLease>(
    `WITH head AS (
       SELECT FROM feed_head WHERE seq = $5::bigint AND epoch = $6::uuid FOR SHARE
     ), renewed AS (
       INSERT INTO nodes (id, role, version, settings, applied, expires_at, host, clock_ahead_ms, advised)
       SELECT $1::uuid, $2::text, $3::text, $4::jsonb, $5::bigint, clock_timestamp() + $7::float8 * interval '1 ms',
         $8::text, $9::float8, $10::jsonb FROM head
       ON CONFLICT (id) DO UPDATE SET applied = excluded.applied, expires_at = excluded.expires_at,
         clock_ahead_ms = excluded.clock_ahead_ms
       RETURNING expires_at
     )
     SELECT (date_part('epoch', expires_at) * 1000)::float8 - $7::float8 AS "postgresMs", (
       SELECT count(*)::int FROM nodes WHERE id <> $1::uuid AND role = 'api' AND nodes.expires_at > clock_timestamp()
     ) AS others, (
       SELECT coalesce(json_agg(advised), '[]') FROM nodes
       WHERE id <> $1::uuid AND role = 'api' AND nodes.expires_at > clock_timestamp() AND advised <> $10::jsonb
     ) AS differing FROM renewed`,
    [
      ...[id, role, version, JSON.stringify(settings), head.seq, head.epoch, leaseMs, host, clockAheadMs ?? null],
      JSON.stringify(advised),
    ],
  )
  return rows[0]
}

/** The other nodes count again afterwards. */
export async function removeNode(database: Transaction, id: string): Promise<void> {
  await database.query(`WITH gone AS (DELETE FROM nodes WHERE id = $1) SELECT pg_notify('${feedChannel}', '')`, [id])
}

/** Removes nodes that ended long ago without leaving. */
export async function trimNodes(database: Transaction, olderThanMs: number): Promise<void> {
  const text = "DELETE FROM nodes WHERE expires_at < clock_timestamp() - $1::float8 * interval '1 ms'"
  await database.query(text, [olderThanMs])
}

/**
 * Counts other nodes that admit requests and have not applied all up to `seq`, or by default up to the head, whose
 * number is returned. `steppedMs` is how far PostgreSQL's clock may have stepped forward since they renewed their
 * leases.
 */
export async function countBehind(
  database: Transaction,
  id: string,
  seq: number | undefined,
  steppedMs: number,
): Promise<{ seq: number; count: number; postgresMs: number }> {
  const { rows } = await database.query<{ seq: number; count: number; postgresMs: number }>(
    `SELECT target.seq::float8 AS seq, (SELECT count(*)::int FROM nodes
       WHERE id <> $1 AND expires_at > clock_timestamp() - $3::float8 * interval '1 ms' AND applied < target.seq) AS count,
       (date_part('epoch', clock_timestamp()) * 1000)::float8 AS "postgresMs"
     FROM (SELECT coalesce($2::bigint, seq) AS seq FROM feed_head) AS target`,
    [id, seq ?? null, steppedMs],
  )
  const [row] = rows
  if (row === undefined) throw new Error('the feed of changes has no head')
  return row
}
