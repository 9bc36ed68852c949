/** Mail that carries a token: asked for by address, and redeemed. */

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

/** How much mail one address gets; beyond it nothing is sent, and nobody is notified. */
const limitsOf = (purpose: TokenPurpose): RateLimit[] => [
  { kind: `${purpose} a minute`, countMax: 1, windowMs: minuteMs },
  { kind: `${purpose} an hour`, countMax: 5, windowMs: 60 * minuteMs },
]

/** The same work whether or not there is such an account: that is looked up when the mail is sent. */
export async function requestToken(parts: AccountParts, purpose: TokenPurpose, email: string): Promise<void> {
  for (const limit of limitsOf(purpose)) {
    if ((await parts.limits.take(limit, emailKeyOf(email))) !== undefined) return
  }
  const mail = { kind: purpose, email, accountId: null, nowMs: parts.nowMs() }
  await inNewTransaction(parts, transaction => queueMail(transaction, mail))
  parts.mailDue()
}

/** The address that the token was sent to is theirs; it becomes that of the account if it is a new one. */
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
      // What was sent to the old address is worth nothing any more.
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
