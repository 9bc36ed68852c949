/** Stores the leading node in PostgreSQL. */

import type pg from 'pg'
import { ask } from '../../store/postgres/held-lock.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'

// An arbitrary fixed number: "barolead" in ASCII.
const leaderLock = '7089073111343391076'
/** A new leader takes it exclusively. The leader's transactions share it until they end. The number is "barofenc". */
const fenceLock = '7089073111242731107'

export async function tryLeaderLock(session: pg.Client): Promise<boolean> {
  const [row] = await ask<{ got: boolean }>(session, `SELECT pg_try_advisory_lock(${leaderLock}) AS got`)
  return row?.got === true
}

/** Call it in the session that has the lock. True if the previous leader may have work in progress. */
export async function takeLead(session: pg.Client, id: string): Promise<boolean> {
  const rows = await ask<{ was_leading: boolean }>(
    session,
    `WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock(${fenceLock}))
     UPDATE nodes SET leads_since = CASE WHEN id = $1 THEN clock_timestamp() END
     FROM (SELECT id AS node, leads_since IS NOT NULL AS was_leading FROM nodes) AS before, fence
     WHERE node = id AND (id = $1 OR was_leading) RETURNING was_leading`,
    [id],
  )
  return rows.some(row => row.was_leading)
}

export async function leaveLead(session: pg.Client, id: string): Promise<void> {
  await ask(session, 'UPDATE nodes SET leads_since = NULL WHERE id = $1', [id])
}

/** Blocks a change of leader until the transaction ends. Rejects after such a change. */
export async function requireLead(transaction: Transaction, id: string): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock_shared(${fenceLock})`)
  const { rowCount } = await transaction.query('SELECT FROM nodes WHERE id = $1 AND leads_since IS NOT NULL', [id])
  if (rowCount !== 1) throw new Error('another node leads')
}
