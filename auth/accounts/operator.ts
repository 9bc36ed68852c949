/** Moves the role of the only operator, by the operator or the local admin token. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { AccountDetails } from './account-details.ts'
import { type AccountParts, changeAccount } from './account-parts.ts'
import {
  type AccountChange,
  type Administered,
  detailsOf,
  lockAccount,
  orOther,
  type Requester,
  refused,
  setRole,
  setVerified,
  setViewer,
} from './administered.ts'

/**
 * The former operator becomes an administrator in the same transaction. Only one of several concurrent moves succeeds.
 */
export async function moveOperator(
  parts: AccountParts,
  id: number,
  change: Pick<AccountChange, 'viewer' | 'email_verified'>,
  by: Requester,
): Promise<Administered<AccountDetails>> {
  const { rows } = await parts.pool.query<{ id: number }>("SELECT id FROM accounts WHERE role = 'operator'")
  const currentId = rows[0]?.id
  if (!by.mayReplace(currentId)) return refused('OPERATOR_ONLY')
  const move = () =>
    changeAccount(parts, id, async (transaction): Promise<Administered<AccountDetails>> => {
      // Every move locks the present operator first, which avoids deadlocks.
      if (currentId !== undefined && !(await isOperator(transaction, currentId))) return refused('OPERATOR_OTHER')
      if (currentId !== undefined) parts.feed.note(transaction, 'account', [currentId])
      return await promote(parts, transaction, { id, currentId, ...change }, by)
    })
  // Evicts the former operator's role from memory.
  const isOther = currentId !== undefined && currentId !== id
  const moved = await orOther(isOther ? parts.memory.change(currentId, move) : move())
  return moved === 'OPERATOR_OTHER' ? refused(moved) : moved
}

async function isOperator(transaction: Transaction, id: number): Promise<boolean> {
  return (await lockAccount(transaction, id))?.role === 'operator'
}

interface Promotion extends Pick<AccountChange, 'viewer' | 'email_verified'> {
  id: number
  currentId: number | undefined
}

async function promote(
  parts: AccountParts,
  transaction: Transaction,
  { id, currentId, viewer, email_verified }: Promotion,
  by: Requester,
): Promise<Administered<AccountDetails>> {
  const next = await lockAccount(transaction, id)
  if (next === undefined) return refused('ACCOUNT_UNKNOWN')
  if (next.tenant_id !== null || !next.is_active) return refused('ROLE_IMPOSSIBLE')
  if (currentId !== undefined && currentId !== id) {
    await setRole(parts, transaction, { id: currentId, role: 'operator' }, 'administrator', by)
  }
  await setRole(parts, transaction, next, 'operator', by)
  await setViewer(parts, transaction, next, viewer ?? next.is_viewer, by)
  if (email_verified === true) await setVerified(parts, transaction, next, by)
  return { ok: true, value: await detailsOf(transaction, id) }
}
