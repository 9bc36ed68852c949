/** What PostgreSQL knows of the node that leads. */

import type pg from 'pg'
import { ask } from '../../store/postgres/held-lock/lock-session.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'

// Any fixed number serves; it is "barolead" in ASCII.
const leaderLock = '7089073111343391076'
/** Held by who takes the lead over, and shared by transactions of the leader until they end; it is "barofenc". */
const fenceLock = '7089073111242731107'

export async function tryLeaderLock(session: pg.Client): Promise<boolean> {
  const [row] = await ask<{ got: boolean }>(session, `SELECT pg_try_advisory_lock(${leaderLock}) AS got`)
  return row?.got === true
}

/** By the session that has the lock. Whether a node that led before did not say that it has nothing under way. */
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

/** Until the transaction ends no other node takes the lead over. Rejects where one has. */
export async function requireLead(transaction: Transaction, id: string): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock_shared(${fenceLock})`)
  const { rowCount } = await transaction.query('SELECT FROM nodes WHERE id = $1 AND leads_since IS NOT NULL', [id])
  if (rowCount !== 1) throw new Error('another node leads')
}
