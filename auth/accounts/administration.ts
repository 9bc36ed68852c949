/** Administrators change accounts, and the operator or the local admin token moves the role of the operator. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { revokeAllKeys } from '../keys/key-rows.ts'
import { revokeAllSessions } from '../sessions/session-rows.ts'
import { subjectOf } from './account.ts'
import type { AccountDetails, Role } from './account-details.ts'
import { type AccountParts, askerOf, changeAccount, inNewTransaction } from './account-parts.ts'
import { issueToken } from './account-tokens.ts'
import {
  type AccountChange,
  type Administered,
  type AdministrationErrorCode,
  detailsOf,
  isLastAdministrator,
  type LockedAccount,
  lockAccount,
  orOther,
  type Requester,
  refused,
  setRole,
  setVerified,
  setViewer,
} from './administered.ts'
import { insertAccount, orTaken } from './registration.ts'

interface AccountAddition {
  email: string
  name: string | null
  role: Role
  viewer: boolean
  /** True if the administrator vouches for the address. */
  email_verified: boolean
  /** Null if the token's holder sets the password. */
  password: string | null
}

/** The token sets the first password: once, within an hour. */
export async function addAccount(
  parts: AccountParts,
  { email, name, role, viewer, email_verified, password }: AccountAddition,
  by: Requester,
): Promise<Administered<{ account: AccountDetails; token: string | undefined }>> {
  if (role === 'operator' && !by.mayReplace(undefined)) return refused('OPERATOR_ONLY')
  const asker = askerOf(email, { network: by.actor })
  const passwordHash = password === null ? null : await parts.passwords.hash(password, asker)
  const nowMs = parts.nowMs()
  const added = inNewTransaction(parts, async transaction => {
    const shared = { email, name, role, isViewer: viewer, isVerified: email_verified, passwordHash, nowMs }
    const id = await insertAccount(transaction, { ...shared, image: null, tenant: null })
    const details = { role, viewer, ...(email_verified && { email_verified }) }
    await writeAudit(transaction, { actor: by.actor, action: 'account.add', subject: subjectOf(id), details })
    const forPassword = { accountId: id, email }
    return {
      token: password === null ? await issueToken(transaction, 'password-reset', forPassword, nowMs) : undefined,
      account: await detailsOf(transaction, id),
    }
  })
  const value = await orOther(orTaken(added))
  if (value === 'OPERATOR_OTHER') return refused(value)
  return value === undefined ? refused('EMAIL_TAKEN') : { ok: true, value }
}

/** Applies all changes or none. Credentials of a disabled account end before this resolves. */
export async function administerAccount(
  parts: AccountParts,
  id: number,
  change: AccountChange,
  by: Requester,
): Promise<Administered<AccountDetails>> {
  if (change.role === 'operator')
    return change.is_active === false ? refused('ROLE_IMPOSSIBLE') : moveOperator(parts, id, change, by)
  return await changeAccount(parts, id, async transaction => {
    const account = await lockAccount(transaction, id)
    if (account === undefined) return refused('ACCOUNT_UNKNOWN')
    const refusal = refusalOf(account, change, by)
    if (refusal !== undefined) return refused(refusal)
    const staysAdministrator = change.role !== 'user' && change.is_active !== false
    if (!staysAdministrator && (await isLastAdministrator(transaction, account))) return refused('LAST_ADMINISTRATOR')
    await setActive(parts, transaction, account, change.is_active ?? account.is_active, by)
    await setRole(parts, transaction, account, change.role ?? account.role, by)
    await setViewer(parts, transaction, account, change.viewer ?? account.is_viewer, by)
    if (change.email_verified === true) await setVerified(parts, transaction, account, by)
    return { ok: true, value: await detailsOf(transaction, id) }
  })
}

function refusalOf(
  account: LockedAccount,
  { role = account.role, is_active }: AccountChange,
  by: Requester,
): AdministrationErrorCode | undefined {
  if (account.role === 'operator' && (role !== 'operator' || is_active === false)) return 'OPERATOR_STAYS'
  if (account.id === by.accountId && (role !== account.role || is_active === false)) return 'OWN_ACCOUNT'
  return account.tenant_id !== null && role === 'administrator' ? 'ROLE_IMPOSSIBLE' : undefined
}

async function setActive(
  parts: AccountParts,
  transaction: Transaction,
  { id, is_active: was }: LockedAccount,
  isActive: boolean,
  { actor }: Requester,
): Promise<void> {
  if (isActive === was) return
  const nowMs = parts.nowMs()
  const text = 'UPDATE accounts SET is_active = $2, updated_at = to_timestamp($3::float8 / 1000) WHERE id = $1'
  await transaction.query(text, [id, isActive, nowMs])
  if (!isActive) await endCredentials(transaction, id, nowMs)
  const action = isActive ? 'account.activate' : 'account.deactivate'
  await writeAudit(transaction, { actor, action, subject: subjectOf(id) })
}

/** Enabling the account does not restore them. */
async function endCredentials(transaction: Transaction, id: number, nowMs: number): Promise<void> {
  await revokeAllSessions(transaction, id, nowMs)
  await revokeAllKeys(transaction, id, nowMs)
  await transaction.query('DELETE FROM account_tokens WHERE account_id = $1', [id])
  await transaction.query(
    "DELETE FROM mail_outbox WHERE account_id = $1 AND kind IN ('verification', 'password-reset')",
    [id],
  )
}

/**
 * The former operator becomes an administrator in the same transaction. Only one of several concurrent moves succeeds.
 */
async function moveOperator(
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
