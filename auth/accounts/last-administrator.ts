/** Keeps the last active administrator. The transaction that demotes, disables or deletes an account asks it. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { LockedAccount } from './administered.ts'

// An arbitrary fixed number: "baroadmn" in ASCII.
const administratorsLock = '7089073111158779246'

export type LockedRole = Pick<LockedAccount, 'id' | 'role' | 'is_active'>

/** The account's row is locked already. The operator counts as an administrator. */
export async function isLastAdministrator(
  transaction: Transaction,
  { id, role, is_active }: LockedRole,
): Promise<boolean> {
  if (role === 'user' || !is_active) return false
  // Held until the end of the transaction: if two administrators demote each other, the second one is refused.
  await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [administratorsLock])
  const { rows } = await transaction.query(
    "SELECT 1 FROM accounts WHERE id <> $1 AND role <> 'user' AND is_active LIMIT 1",
    [id],
  )
  return rows.length === 0
}
