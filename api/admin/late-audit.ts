/** The audit of what has been done already: it fails by itself, for the answer has to say what is true of the readings. */

import type pg from 'pg'
import { type AuditEntry, writeAudit } from '../../auth/audit.ts'
import type { Log } from '../../store/log.ts'

export type WriteLateAudit = (entry: AuditEntry) => Promise<void>

/** Where PostgreSQL does not take the row, the log has it. */
export function createLateAudit(postgres: Pick<pg.Pool, 'query'>, log: Pick<Log, 'error'>): WriteLateAudit {
  return async entry => {
    try {
      await writeAudit(postgres, entry)
    } catch (error) {
      log.error({ err: error, audit: entry }, 'could not write to the audit log; entry logged here instead')
    }
  }
}
