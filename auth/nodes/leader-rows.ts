/** What PostgreSQL knows of the node that leads. */

import type pg from 'pg'
import { ask } from '../../store/postgres/held-lock/lock-session.ts'

// Any fixed number serves; it is "barolead" in ASCII.
const leaderLock = '7089073111343391076'

export async function tryLeaderLock(session: pg.Client): Promise<boolean> {
  const [row] = await ask<{ got: boolean }>(session, `SELECT pg_try_advisory_lock(${leaderLock}) AS got`)
  return row?.got === true
}

/** By the session that has the lock. Whether a node that led before did not say that it has nothing under way. */
export async function takeLead(session: pg.Client, id: string): Promise<boolean> {
  const rows = await ask<{ was_leading: boolean }>(
    session,
    `UPDATE nodes SET leads_since = CASE WHEN id = $1 THEN clock_timestamp() END
     FROM (SELECT id AS node, leads_since IS NOT NULL AS was_leading FROM nodes) AS before
     WHERE node = id AND (id = $1 OR was_leading) RETURNING was_leading`,
    [id],
  )
  return rows.some(row => row.was_leading)
}

export async function leaveLead(session: pg.Client, id: string): Promise<void> {
  await ask(session, 'UPDATE nodes SET leads_since = NULL WHERE id = $1', [id])
}
