/** Statements about a replica on the session that holds its lock. */

import type pg from 'pg'
import { bug } from '../../store/limits/bug.ts'
import { ask } from '../../store/postgres/held-lock/lock-session.ts'
import type { ReplicaTenure } from './replica-state.ts'

interface ReplicaRow {
  holder: string | null
  /** Why nothing is forwarded to it until it is replaced by a copy of another one. */
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

/** The key has two numbers, so that it differs from all other locks of the service. The first is "shrd" in ASCII. */
export const lockClass = 1_936_224_868

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
