/** The replicas in PostgreSQL. */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { publishedChannel } from './published-state.ts'
import { lockClass } from './replica-session.ts'

export interface ReplicaHolder {
  number: number
  /** The host and the process. Undefined after a release. A killed process stays until another one has the replica. */
  holder: string | undefined
  takenMs: number | undefined
  /** Why nothing is forwarded to it. Undefined while it is in use. */
  lost: string | undefined
}

interface Row {
  number: number
  holder: string | null
  taken_at: Date | null
  lost: string | null
}

/** Returns the replicas by number, excluding replicas that no process has ever held. */
export async function readReplicaHolders(database: Transaction): Promise<ReplicaHolder[]> {
  const { rows } = await database.query<Row>('SELECT number, holder, taken_at, lost FROM replicas ORDER BY number')
  return rows.map(({ number, holder, taken_at, lost }) => ({
    number,
    holder: holder ?? undefined,
    takenMs: taken_at?.getTime(),
    lost: lost ?? undefined,
  }))
}

/** Returns the replicas in use whose lock no process has: nothing is forwarded to them. */
export async function readUnforwarded(database: Transaction, replicas: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ number: number }>({
    text: unforwardedSql,
    values: [replicas],
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  return rows.map(({ number }) => number)
}

const answerMsMax = 5000
/** The same lock as in `tryLock`, with a key of two numbers. */
const unforwardedSql = `SELECT asked AS number FROM unnest($1::int[]) AS asked
  WHERE NOT EXISTS (SELECT FROM replicas WHERE number = asked AND lost IS NOT NULL) AND NOT EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = ${lockClass} AND objid = asked::oid AND objsubid = 2
      AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  ) ORDER BY asked`

/**
 * Excludes a replica from forwarding, reads and waits, until it is replaced by a copy of another one. Its forwarder detects it at
 * the next commit. Returns true when it was in use.
 */
export async function markLost(database: Transaction, replica: number, reason: string): Promise<boolean> {
  const { rowCount } = await database.query(lostSql, [replica, reason])
  await database.query(`NOTIFY ${publishedChannel}`)
  return rowCount === 1
}

const lostSql = `INSERT INTO replicas AS known (number, lost) VALUES ($1, $2)
  ON CONFLICT (number) DO UPDATE SET lost = excluded.lost, epoch = known.epoch + 1, holder = NULL WHERE known.lost IS NULL`
