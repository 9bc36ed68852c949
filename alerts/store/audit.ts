/** Writes the audit in the transaction of the audited change. */

import type { Transaction } from '../../store/postgres/transaction.ts'

export type WriteAudit = (
  transaction: Transaction,
  entry: { actor: string; action: string; subject: string; details?: Record<string, unknown> },
) => Promise<void>
