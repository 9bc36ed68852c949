/** Shared by administrators' changes of accounts: requester, refusals, the changed row, and the last administrator. */

import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { dropScopesBeyond } from '../keys/key-rows.ts'
import { subjectOf } from './account.ts'
import type { AccountDetails, Role } from './account-details.ts'
import { readAccountDetails } from './account-list.ts'
import type { AccountParts } from './account-parts.ts'

export type AdministrationErrorCode =
  | 'ACCOUNT_UNKNOWN'
  | 'EMAIL_TAKEN'
  /** The operator passes the role on; no other change ends it. */
  | 'OPERATOR_STAYS'
  /** There is an operator already, or it has changed. */
  | 'OPERATOR_OTHER'
  /** Only the operator and the holder of the local admin token may appoint an operator. */
  | 'OPERATOR_ONLY'
  /** An account may not change its own role or disable itself. */
  | 'OWN_ACCOUNT'
  | 'LAST_ADMINISTRATOR'
  /** Users of tenants have no other role, and a disabled account cannot become the operator. */
  | 'ROLE_IMPOSSIBLE'
export type Administered<Value> = { ok: true; value: Value } | { ok: false; code: AdministrationErrorCode }

export interface Requester {
  actor: string
  /** Undefined for the local admin token. */
  accountId: number | undefined
  /** True if the requester may replace the present operator; undefined while there is none. */
  mayReplace: (operatorId: number | undefined) => boolean
}

/** Undefined fields stay unchanged. */
export interface AccountChange {
  role?: Role | undefined
  viewer?: boolean | undefined
  is_active?: boolean | undefined
  /** Verification is not revoked. */
  email_verified?: true | undefined
}

export function refused(code: AdministrationErrorCode): { ok: false; code: AdministrationErrorCode } {
  return { ok: false, code }
}

export interface LockedAccount {
  id: number
  role: Role
  is_viewer: boolean
  is_active: boolean
  tenant_id: number | null
}

export async function lockAccount(transaction: Transaction, id: number): Promise<LockedAccount | undefined> {
  const text = 'SELECT id, role, is_viewer, is_active, tenant_id FROM accounts WHERE id = $1 FOR NO KEY UPDATE'
  return (await transaction.query<LockedAccount>(text, [id])).rows[0]
}

/** Runs in a transaction of `changeAccount` of this account. */
export async function setRole(
  parts: AccountParts,
  transaction: Transaction,
  { id, role: from }: Pick<LockedAccount, 'id' | 'role'>,
  role: Role,
  { actor }: Requester,
): Promise<void> {
  if (role === from) return
  const text = 'UPDATE accounts SET role = $2, updated_at = to_timestamp($3::float8 / 1000) WHERE id = $1'
  await transaction.query(text, [id, role, parts.nowMs()])
  await dropScopesBeyond(transaction, id, role)
  const details = { from, to: role }
  await writeAudit(transaction, { actor, action: 'account.role', subject: subjectOf(id), details })
}

export async function setViewer(
  parts: AccountParts,
  transaction: Transaction,
  { id, is_viewer: was }: LockedAccount,
  viewer: boolean,
  { actor }: Requester,
): Promise<void> {
  if (viewer === was) return
  const text = 'UPDATE accounts SET is_viewer = $2, updated_at = to_timestamp($3::float8 / 1000) WHERE id = $1'
  await transaction.query(text, [id, viewer, parts.nowMs()])
  await writeAudit(transaction, { actor, action: 'account.viewer', subject: subjectOf(id), details: { viewer } })
}

/** An administrator vouches for the address, as without a mail server. */
export async function setVerified(
  parts: AccountParts,
  transaction: Transaction,
  { id }: Pick<LockedAccount, 'id'>,
  { actor }: Requester,
): Promise<void> {
  const { rowCount } = await transaction.query(
    `UPDATE accounts SET email_verified_at = to_timestamp($2::float8 / 1000), updated_at = to_timestamp($2::float8 / 1000)
     WHERE id = $1 AND email_verified_at IS NULL`,
    [id, parts.nowMs()],
  )
  if (rowCount === 1) await writeAudit(transaction, { actor, action: 'email.verify', subject: subjectOf(id) })
}

export async function detailsOf(transaction: Transaction, id: number): Promise<AccountDetails> {
  const details = await readAccountDetails(transaction, id)
  if (details === undefined) throw new Error('an account that is locked is there')
  return details
}

/** A unique index allows one operator. */
export async function orOther<Value>(work: Promise<Value>): Promise<Value | 'OPERATOR_OTHER'> {
  try {
    return await work
  } catch (error) {
    if (isUniqueViolation(error, 'accounts_operator')) return 'OPERATOR_OTHER'
    throw error
  }
}

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
