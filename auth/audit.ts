/** Writes the audit. A row names the actor, the action, its subject and details, and never a secret. */

import type pg from 'pg'

export interface AuditEntry {
  /** `local admin token`, `account 5`, `key 7 of account 5` (auth/actor.ts), or a part of the service. */
  actor: string
  /** `device.add`, `device.change`, `device.rotate`, `device.remove`, `device.erase`, `dead-letters.replay`, … */
  action: string
  subject: string
  details?: Record<string, unknown>
}

/** For a change of several statements in PostgreSQL. Changes of the registry write their own row. */
export async function writeAudit(database: Pick<pg.Pool, 'query'>, entry: AuditEntry): Promise<void> {
  await database.query('INSERT INTO audit (actor, action, subject, details) VALUES ($1, $2, $3, $4)', [
    entry.actor,
    entry.action,
    entry.subject,
    JSON.stringify(entry.details ?? {}),
  ])
}
