/** Audits completed work. A failed entry does not fail the answer, which reports the stored readings. */

import type pg from 'pg'
import { type AuditEntry, writeAudit } from '../../auth/audit.ts'
import type { Log } from '../../store/log.ts'

export type WriteLateAudit = (entry: AuditEntry) => Promise<void>

/** The log gets an entry that PostgreSQL does not take. */
export function createLateAudit(postgres: Pick<pg.Pool, 'query'>, log: Pick<Log, 'error'>): WriteLateAudit {
  return async entry => {
    try {
      await writeAudit(postgres, entry)
    } catch (error) {
      log.error({ err: error, audit: entry }, 'could not write to the audit log; entry logged here instead')
    }
  }
}
