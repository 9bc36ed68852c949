/** Opens, queries and ends the PostgreSQL session that holds a lock. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/** Time limit of each statement. A slower heartbeat comes too late. */
const answerMs = 2000
/** PostgreSQL ends a session after this idle time. */
const idleMs = 5000

/** Sets the time limits. `connect` handles the errors of its client, like `Store.connectPostgres`. */
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

/** Does not wait: the other side may not answer. */
export function endSession(session: pg.Client | undefined): void {
  void session?.end().catch(() => undefined)
}

/** Resolves when the lock is free, or when PostgreSQL does not answer in time. */
export async function closeSession(session: pg.Client): Promise<void> {
  await Promise.race([session.end().catch(() => undefined), sleep(answerMs, undefined, { ref: false })])
}

export async function ask<Row extends pg.QueryResultRow>(
  session: pg.Client,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  // PostgreSQL ends a statement itself, but not while it is frozen or when its answer is lost.
  const { rows } = await session.query<Row>({ text, values, query_timeout: answerMs } as pg.QueryConfig)
  return rows
}
