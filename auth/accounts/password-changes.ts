/** Changes a password, with the old one or with a mailed token. Both end every session of the account. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { queueMail } from '../mail/outbox-rows.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import { insertSession, revokeAllSessions } from '../sessions/session-rows.ts'
import { type Account, subjectOf } from './account.ts'
import { type AccountParts, askerOf, type Client, changeAccount } from './account-parts.ts'
import { peekToken, redeemToken } from './account-tokens.ts'
import { checkPassword, passwordHashOf } from './sign-in.ts'

/** Session of the account's owner after the change. */
export interface NextSession {
  sid: string
  createdMs: number
}

export interface PasswordChange {
  currentPassword: string
  newPassword: string
  sessionLifetimeMs: number
}

export async function changePassword(
  parts: AccountParts,
  account: Account,
  { currentPassword, newPassword, sessionLifetimeMs }: PasswordChange,
  client: Client,
): Promise<Outcome<NextSession>> {
  const { id, email } = account
  const hash = await passwordHashOf(parts, id)
  const checked = await checkPassword(parts, { email, password: currentPassword, hash }, client)
  if (!checked.ok) return checked.code === 'CREDENTIALS_WRONG' ? refused('PASSWORD_WRONG') : checked
  const next = await parts.passwords.hash(newPassword, askerOf(email, client))
  const nowMs = parts.nowMs()
  const sid = await changeAccount(parts, id, async transaction => {
    const isChanged = await setPassword(parts, transaction, { id, expected: hash ?? null, next, how: 'change' })
    if (!isChanged) return undefined
    const { address, userAgent } = client
    return await insertSession(transaction, {
      accountId: id,
      kind: 'cookie',
      nowMs,
      lifetimeMs: sessionLifetimeMs,
      address,
      userAgent,
    })
  })
  // The password has changed since the check.
  if (sid === undefined) return refused('PASSWORD_WRONG')
  parts.mailDue()
  return accepted({ sid, createdMs: nowMs })
}

/** Does not sign in: the mail's reader has to sign in with the new password. */
export async function resetPassword(
  parts: AccountParts,
  token: string,
  password: string,
  client: Client,
): Promise<Outcome<undefined>> {
  const owner = await peekToken(parts.pool, 'password-reset', token, parts.nowMs())
  // Hashing is expensive, so it runs only for a valid token. The transaction decides between concurrent requests.
  if (owner === undefined) return refused('TOKEN_INVALID')
  const next = await parts.passwords.hash(password, askerOf(owner.email, client))
  const isReset = await changeAccount(parts, owner.accountId, async transaction => {
    const redeemed = await redeemToken(transaction, 'password-reset', token, parts.nowMs())
    if (redeemed === undefined) return false
    return await setPassword(parts, transaction, { id: redeemed.accountId, next, how: 'reset' })
  })
  if (!isReset) return refused('TOKEN_INVALID')
  parts.mailDue()
  return accepted(undefined)
}

interface NextPassword {
  id: number
  /** Expected present hash; any by default. */
  expected?: string | null
  next: string
  how: 'change' | 'reset'
}

async function setPassword(
  { nowMs: clockMs }: AccountParts,
  transaction: Transaction,
  { id, expected, next, how }: NextPassword,
): Promise<boolean> {
  const nowMs = clockMs()
  const { rows } = await transaction.query<{ email: string }>(
    `UPDATE accounts SET password_hash = $2, updated_at = to_timestamp($3::float8 / 1000)
     WHERE id = $1 AND is_active AND ($4::boolean OR password_hash IS NOT DISTINCT FROM $5)
     RETURNING email`,
    [id, next, nowMs, expected === undefined, expected ?? null],
  )
  const [row] = rows
  if (row === undefined) return false
  await voidTokens(transaction, id, row.email)
  await revokeAllSessions(transaction, id, nowMs)
  await queueMail(transaction, { kind: 'password-changed', email: row.email, accountId: id, nowMs })
  await writeAudit(transaction, { actor: subjectOf(id), action: `password.${how}`, subject: subjectOf(id) })
  return true
}

/** A holder of the old password may have requested another address. */
async function voidTokens(transaction: Transaction, id: number, email: string): Promise<void> {
  await transaction.query(
    "DELETE FROM account_tokens WHERE account_id = $1 AND (purpose = 'password-reset' OR email <> $2)",
    [id, email],
  )
  await transaction.query("DELETE FROM mail_outbox WHERE account_id = $1 AND kind = 'verification' AND email <> $2", [
    id,
    email,
  ])
}
