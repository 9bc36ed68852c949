/** The rows of replicas in PostgreSQL, and the statements of the session that holds a replica's lock. */

import type pg from 'pg'
import { bug } from '../../../store/limits/bug.ts'
import { ask } from '../../../store/postgres/held-lock.ts'
import type { Transaction } from '../../../store/postgres/transaction.ts'
import { publishedChannel } from './forward-status.ts'
import type { ReplicaTenure } from './state.ts'

interface ReplicaHolder {
  number: number
  /** The host and the process. Undefined after a release. A killed process stays until another one has the replica. */
  holder: string | undefined
  takenMs: number | undefined
  /** Reason why nothing is forwarded to it. Undefined while it is in use. */
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
/** The key has two numbers, so that it differs from all other locks of the service. The first is "shrd" in ASCII. */
const lockClass = 1_936_224_868

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

interface ReplicaRow {
  holder: string | null
  /** Reason why nothing is forwarded to it until it is replaced by a copy of another one. */
  lost: string | null
}

export async function replicaRow(session: pg.Client, replica: number): Promise<ReplicaRow> {
  const find = () => ask<ReplicaRow>(session, 'SELECT holder, lost FROM replicas WHERE number = $1', [replica])
  const [known] = await find()
  if (known !== undefined) return known
  await ask(session, 'INSERT INTO replicas (number) VALUES ($1) ON CONFLICT (number) DO NOTHING', [replica])
  const [made] = await find()
  if (made === undefined) throw bug(`replica ${replica} has no row`)
  return made
}

export async function tryLock(session: pg.Client, replica: number): Promise<boolean> {
  const [row] = await ask<{ got: boolean }>(session, `SELECT pg_try_advisory_lock(${lockClass}, $1) AS got`, [replica])
  return row?.got === true
}

/** Runs on the session that has the lock, so that each process has a unique epoch. */
export async function raiseEpoch(
  session: pg.Client,
  replica: number,
  holder: string,
): Promise<{ epoch: number; predecessor: string | undefined }> {
  const [row] = await ask<{ epoch: number; predecessor: string | null }>(
    session,
    `UPDATE replicas SET epoch = epoch + 1, holder = $2, taken_at = now()
     FROM (SELECT holder FROM replicas WHERE number = $1) AS before WHERE number = $1
     RETURNING epoch::float8 AS epoch, before.holder AS predecessor`,
    [replica, holder],
  )
  if (row === undefined) throw bug(`replica ${replica} has no row`)
  return { epoch: row.epoch, predecessor: row.predecessor ?? undefined }
}

/** Records that the process has nothing in flight. */
export async function clearHolder(session: pg.Client, { replica, epoch }: ReplicaTenure): Promise<void> {
  await ask(session, 'UPDATE replicas SET holder = NULL WHERE number = $1 AND epoch = $2', [replica, epoch])
}
