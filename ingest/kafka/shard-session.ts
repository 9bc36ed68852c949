/** What is said of a shard over the session that holds its lock. */

import type pg from 'pg'
import { bug } from '../../limits/bug.ts'
import { ask } from '../../store/postgres/held-lock/lock-session.ts'
import type { ShardTenure } from './shard-state.ts'

interface ShardRow {
  /** In the key of its lock. */
  number: number
  holder: string | null
}

export async function shardRow(session: pg.Client, shard: string): Promise<ShardRow> {
  const find = () => ask<ShardRow>(session, 'SELECT number, holder FROM shards WHERE name = $1', [shard])
  const [known] = await find()
  if (known !== undefined) return known
  await ask(session, 'INSERT INTO shards (name) VALUES ($1) ON CONFLICT (name) DO NOTHING', [shard])
  const [made] = await find()
  if (made === undefined) throw bug(`shard ${shard} has no row`)
  return made
}

/** The key has two numbers, so that no other lock of the service has the same; the first is "shrd" in ASCII. */
const lockClass = 1_936_224_868

export async function tryLock(session: pg.Client, number: number): Promise<boolean> {
  const [row] = await ask<{ got: boolean }>(session, `SELECT pg_try_advisory_lock(${lockClass}, $1) AS got`, [number])
  return row?.got === true
}

/** By any session, of this database. */
export async function isLocked(session: pg.Client, number: number): Promise<boolean> {
  const [row] = await ask<{ locked: boolean }>(
    session,
    `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
       AND classid = ${lockClass} AND objid = $1::int::oid
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locked`,
    [number],
  )
  return row?.locked === true
}

/** By the session that has the lock, so that no two processes have the same epoch. */
export async function raiseEpoch(
  session: pg.Client,
  shard: string,
  holder: string,
): Promise<{ epoch: number; predecessor: string | undefined }> {
  const [row] = await ask<{ epoch: number; predecessor: string | null }>(
    session,
    `UPDATE shards SET epoch = epoch + 1, holder = $2, taken_at = now()
     FROM (SELECT holder FROM shards WHERE name = $1) AS before WHERE name = $1
     RETURNING epoch::float8 AS epoch, before.holder AS predecessor`,
    [shard, holder],
  )
  if (row === undefined) throw bug(`shard ${shard} has no row`)
  return { epoch: row.epoch, predecessor: row.predecessor ?? undefined }
}

/** Says that the process has nothing in flight. */
export async function clearHolder(session: pg.Client, { shard, epoch }: ShardTenure): Promise<void> {
  await ask(session, 'UPDATE shards SET holder = NULL WHERE name = $1 AND epoch = $2', [shard, epoch])
}
