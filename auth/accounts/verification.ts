/** Requests and redeems mailed tokens. */

import { writeAudit } from '../audit.ts'
import { queueMail } from '../mail/outbox-rows.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import type { RateLimit } from '../rate-limits.ts'
import { subjectOf } from './account.ts'
import { type AccountParts, changeAccount, inNewTransaction } from './account-parts.ts'
import { peekToken, redeemToken, type TokenPurpose } from './account-tokens.ts'
import { emailKeyOf } from './email-address.ts'
import { orTaken } from './registration.ts'

const minuteMs = 60_000

/** Limits mail to one address. Beyond them, mail is dropped silently. */
const limitsOf = (purpose: TokenPurpose): RateLimit[] => [
  { kind: `${purpose} a minute`, countMax: 1, windowMs: minuteMs },
  { kind: `${purpose} an hour`, countMax: 5, windowMs: 60 * minuteMs },
]

/** The sender of the mail looks the account up, so that the work is the same without one. */
export async function requestToken(parts: AccountParts, purpose: TokenPurpose, email: string): Promise<void> {
  for (const limit of limitsOf(purpose)) {
    if ((await parts.limits.take(limit, emailKeyOf(email))) !== undefined) return
  }
  const mail = { kind: purpose, email, accountId: null, nowMs: parts.nowMs() }
  await inNewTransaction(parts, transaction => queueMail(transaction, mail))
  parts.mailDue()
}

/** Verifies the address of the token. A new address replaces the account's. */
export async function verifyEmail(parts: AccountParts, token: string, email?: string): Promise<Outcome<undefined>> {
  const nowMs = parts.nowMs()
  const owner = await peekToken(parts.pool, 'verification', token, nowMs)
  if (owner === undefined) return refused('TOKEN_INVALID')
  if (email !== undefined && emailKeyOf(email) !== emailKeyOf(owner.email)) return refused('TOKEN_INVALID')
  const isVerified = await orTaken(
    changeAccount(parts, owner.accountId, async transaction => {
      const redeemed = await redeemToken(transaction, 'verification', token, nowMs)
      if (redeemed === undefined) return false
      const { accountId } = redeemed
      await transaction.query(
        `UPDATE accounts SET email = $2, email_verified_at = to_timestamp($3::float8 / 1000),
           updated_at = to_timestamp($3::float8 / 1000) WHERE id = $1`,
        [accountId, redeemed.email, nowMs],
      )
      // Tokens sent to the old address are void.
      await transaction.query('DELETE FROM account_tokens WHERE account_id = $1 AND email <> $2', [
        accountId,
        redeemed.email,
      ])
      await writeAudit(transaction, {
        actor: subjectOf(accountId),
        action: 'email.verify',
        subject: subjectOf(accountId),
      })
      return true
    }),
  )
  return isVerified === true ? accepted(undefined) : refused('TOKEN_INVALID')
}
