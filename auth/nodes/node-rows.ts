/** The rows of nodes: their leases, by the clock of PostgreSQL. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { type FeedHead, feedChannel } from './feed-rows.ts'

/** By name, a digest of each setting and secret. */
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
  /** By how much its clock is ahead of PostgreSQL's clock; undefined until it was measured. */
  clockAheadMs: number | undefined
}

export interface RenewedLease {
  /** The clock of PostgreSQL, when it was renewed. */
  postgresMs: number
  /** How many other nodes take requests by then. */
  others: number
  /** The advised settings of those that have any otherwise. */
  differing: NodeSettings[]
}

// Any fixed number serves; it is "barojoin" in ASCII.
const joinLock = '7089073111310494062'

/**
 * Until the end of the transaction no other node joins, for `idleMsMax` at most where this one is frozen. With its commit the others
 * look how many they are.
 */
export async function lockJoining(transaction: Transaction, idleMsMax: number): Promise<void> {
  await transaction.query(
    `SELECT set_config('idle_in_transaction_session_timeout', $2, true), pg_advisory_xact_lock($1::bigint),
       pg_notify('${feedChannel}', '')`,
    [joinLock, String(idleMsMax)],
  )
}

/** Of the other nodes whose leases are valid. */
export async function readLiveSettings(database: Transaction, id: string): Promise<NodeSettings[]> {
  const { rows } = await database.query<{ settings: NodeSettings }>(
    'SELECT settings FROM nodes WHERE id <> $1 AND expires_at > clock_timestamp()',
    [id],
  )
  return rows.map(({ settings }) => settings)
}

/**
 * Renews the lease of a node that has applied all up to `head`; undefined when there is more by now. A change that is not committed
 * yet is waited for, and none commits before this does: so each change is either applied, or sees the new lease.
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

/** The others look then how many they are. */
export async function removeNode(database: Transaction, id: string): Promise<void> {
  await database.query(`WITH gone AS (DELETE FROM nodes WHERE id = $1) SELECT pg_notify('${feedChannel}', '')`, [id])
}

/** Those of nodes that are long gone without a word. */
export async function trimNodes(database: Transaction, olderThanMs: number): Promise<void> {
  const text = "DELETE FROM nodes WHERE expires_at < clock_timestamp() - $1::float8 * interval '1 ms'"
  await database.query(text, [olderThanMs])
}

/**
 * How many other nodes let in by what they hold in memory and have not applied all up to `seq`, or, without it, up to the head,
 * whose number comes with it. `steppedMs`: how far the clock of PostgreSQL may have stepped forward since they renewed their leases.
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
