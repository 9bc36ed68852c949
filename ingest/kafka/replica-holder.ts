/** The process that forwards a replica, for operators. */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { lockClass } from './replica-session.ts'

export interface ReplicaHolder {
  /** The host and the process; undefined where the replica was given back. One that was killed stays until another one has it. */
  holder: string | undefined
  takenMs: number | undefined
}

/** The replicas of which no process has the lock, by name: nothing is forwarded to them. */
export async function readUnforwarded(database: Transaction): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>({
    text: unforwardedSql,
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  return rows.map(({ name }) => name)
}

const answerMsMax = 5000
/** Before the first forwarder the table is empty. The lock is that of `tryLock`, with a key of two numbers. */
const unforwardedSql = `SELECT name FROM (
    SELECT name, number FROM replicas UNION ALL SELECT 's1', NULL WHERE NOT EXISTS (SELECT FROM replicas)
  ) AS known WHERE NOT EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = ${lockClass} AND objid = known.number::oid AND objsubid = 2
      AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  ) ORDER BY name`

/** The holder of replica 1; undefined before a process has held it. */
export async function readReplicaHolder(database: Transaction): Promise<ReplicaHolder | undefined> {
  const { rows } = await database.query<{ holder: string | null; taken_at: Date | null }>(
    "SELECT holder, taken_at FROM replicas WHERE name = 's1'",
  )
  const [row] = rows
  return row && { holder: row.holder ?? undefined, takenMs: row.taken_at?.getTime() }
}
