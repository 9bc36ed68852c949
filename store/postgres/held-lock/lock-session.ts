/** The session in PostgreSQL that holds a lock: how it is opened, asked and ended. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

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
