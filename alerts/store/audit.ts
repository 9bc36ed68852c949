/** How the audit is written: in the transaction of the change that it tells of. */

import type { Transaction } from '../../store/postgres/transaction.ts'

export type WriteAudit = (
  transaction: Transaction,
  entry: { actor: string; action: string; subject: string; details?: Record<string, unknown> },
) => Promise<void>
