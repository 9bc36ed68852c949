/** The session in PostgreSQL that holds the lock of a shard: how it is opened, asked and ended. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { bug } from '../../limits/bug.ts'
import type { ShardTenure } from './shard-state.ts'

/** Of each statement. A heartbeat that takes longer comes too late. */
const answerMs = 2000
/** PostgreSQL ends a session that asks nothing for so long. */
const idleMs = 5000

/** With the time limits. `connect` hears the errors of its client, as `Store.connectPostgres` does. */
export async function openSession(connect: () => Promise<pg.Client>): Promise<pg.Client> {
  const session = await connect()
  try {
    await ask(session, `SET idle_session_timeout = ${idleMs}; SET statement_timeout = ${answerMs}`)
    return session
  } catch (error) {
    endSession(session)
    throw error
  }
}

/** Without waiting for it: the other side may not answer. */
export function endSession(session: pg.Client | undefined): void {
  void session?.end().catch(() => undefined)
}

/** Its lock is free when it resolves, unless PostgreSQL does not answer. */
export async function closeSession(session: pg.Client): Promise<void> {
  await Promise.race([session.end().catch(() => undefined), sleep(answerMs, undefined, { ref: false })])
}

export async function ask<Row extends pg.QueryResultRow>(
  session: pg.Client,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  // PostgreSQL ends a statement by itself; one that is frozen does not, nor one whose answer is lost.
  const { rows } = await session.query<Row>({ text, values, query_timeout: answerMs } as pg.QueryConfig)
  return rows
}

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
export async function tryLock(session: pg.Client, number: number): Promise<boolean> {
  const [row] = await ask<{ got: boolean }>(session, 'SELECT pg_try_advisory_lock(1936224868, $1) AS got', [number])
  return row?.got === true
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
