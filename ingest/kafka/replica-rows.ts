/** The replicas as PostgreSQL has them. */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { publishedChannel } from './published-state.ts'
import { lockClass } from './replica-session.ts'

export interface ReplicaHolder {
  number: number
  /** The host and the process; undefined where the replica was given back. One that was killed stays until another one has it. */
  holder: string | undefined
  takenMs: number | undefined
  /** The reason why nothing is forwarded to it; undefined while it is in use. */
  lost: string | undefined
}

interface Row {
  number: number
  holder: string | null
  taken_at: Date | null
  lost: string | null
}

/** Returns the replicas by number. A replica that no process has held yet is not among them. */
export async function readReplicaHolders(database: Transaction): Promise<ReplicaHolder[]> {
  const { rows } = await database.query<Row>('SELECT number, holder, taken_at, lost FROM replicas ORDER BY number')
  return rows.map(({ number, holder, taken_at, lost }) => ({
    number,
    holder: holder ?? undefined,
    takenMs: taken_at?.getTime(),
    lost: lost ?? undefined,
  }))
}

/** Returns which of these replicas are in use without a process that has their lock: nothing is forwarded to them. */
export async function readUnforwarded(database: Transaction, replicas: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ number: number }>({
    text: unforwardedSql,
    values: [replicas],
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  return rows.map(({ number }) => number)
}

const answerMsMax = 5000
/** The lock is that of `tryLock`, with a key of two numbers. */
const unforwardedSql = `SELECT asked AS number FROM unnest($1::int[]) AS asked
  WHERE NOT EXISTS (SELECT FROM replicas WHERE number = asked AND lost IS NOT NULL) AND NOT EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = ${lockClass} AND objid = asked::oid AND objsubid = 2
      AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  ) ORDER BY asked`

/**
 * Nothing is forwarded to a replica, read from it or waited for in it, until it is a new copy of another one. Its forwarder finds out with
 * its next commit. True when it was in use.
 */
export async function markLost(database: Transaction, replica: number, reason: string): Promise<boolean> {
  const { rowCount } = await database.query(lostSql, [replica, reason])
  await database.query(`NOTIFY ${publishedChannel}`)
  return rowCount === 1
}

const lostSql = `INSERT INTO replicas AS known (number, lost) VALUES ($1, $2)
  ON CONFLICT (number) DO UPDATE SET lost = excluded.lost, epoch = known.epoch + 1, holder = NULL WHERE known.lost IS NULL`
