/** The last active administrator stays one: asked in the transaction that would demote, switch off or delete him. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { LockedAccount } from './administered.ts'

// Any fixed number serves; it is "baroadmn" in ASCII.
const administratorsLock = '7089073111158779246'

export type LockedRole = Pick<LockedAccount, 'id' | 'role' | 'is_active'>

/** The row of the account is locked already. The operator is an administrator, too. */
export async function isLastAdministrator(
  transaction: Transaction,
  { id, role, is_active }: LockedRole,
): Promise<boolean> {
  if (role === 'user' || !is_active) return false
  // Until the end of the transaction: of two who demote each other at once, the second one finds himself alone.
  await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [administratorsLock])
  const { rows } = await transaction.query(
    "SELECT 1 FROM accounts WHERE id <> $1 AND role <> 'user' AND is_active LIMIT 1",
    [id],
  )
  return rows.length === 0
}
