/** Decides who may create an account. The first sign-in by a provider counts as a sign-up. */

import { accepted, type Outcome, refused } from '../outcome.ts'
import type { RateLimit } from '../rate-limits.ts'
import type { Account } from './account.ts'
import type { AccountParts, Client } from './account-parts.ts'
import { emailKeyOf } from './email-address.ts'
import { peekInvitation, type RedeemedInvitation, redeemInvitation } from './invitation.ts'
import type { ProviderIdentity } from './provider-sign-in.ts'
import { type Admission, type Admitted, type NewAccount, register } from './registration.ts'

export const signUpModes = ['open', 'invited', 'off'] as const
export type SignUpMode = (typeof signUpModes)[number]

interface SignUpRules {
  mode: SignUpMode
  /** Limit for one network. */
  limit: RateLimit
}

/** With open sign-up, an invitation still applies its role. */
export async function signUp(
  parts: AccountParts,
  { mode, limit }: SignUpRules,
  { token, ...account }: NewAccount & { token: string | undefined },
  client: Client,
): Promise<Outcome<Account>> {
  // Precedes the lookup of the address, so that the answer is the same for all.
  if (mode === 'off') return refused('REGISTRATION_CLOSED')
  if (mode === 'invited' && token === undefined) return refused('REGISTRATION_INVITED')
  const retryAfterSeconds = await parts.limits.take(limit, client.network)
  if (retryAfterSeconds !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
  if (token === undefined) return await register(parts, account, client, async () => accepted(uninvited(false)))
  const { email } = account
  const invited = await peekInvitation(parts.pool, token, parts.nowMs())
  // Hashing is expensive, so it runs only for a valid token. The transaction decides between concurrent requests.
  if (invited === undefined || emailKeyOf(invited.email) !== emailKeyOf(email)) return refused('TOKEN_INVALID')
  return await register(parts, account, client, async transaction => {
    const redeemed = await redeemInvitation(transaction, { email, token }, parts.nowMs())
    return redeemed === undefined ? refused('TOKEN_INVALID') : accepted(invitedBy(redeemed, redeemed.isMailed))
  })
}

/** The provider's verified address finds the invitation. */
export function admissionByProvider(
  { nowMs }: Pick<AccountParts, 'nowMs'>,
  mode: SignUpMode,
  { email, isEmailVerified }: ProviderIdentity,
): Admission {
  return async transaction => {
    if (mode === 'off') return refused('REGISTRATION_CLOSED')
    const byAddress = { email, token: undefined }
    const redeemed = isEmailVerified ? await redeemInvitation(transaction, byAddress, nowMs()) : undefined
    if (redeemed !== undefined) return accepted(invitedBy(redeemed, true))
    return mode === 'open' ? accepted(uninvited(isEmailVerified)) : refused('REGISTRATION_INVITED')
  }
}

function uninvited(isVerified: boolean): Admitted {
  return { role: 'user', isViewer: false, isVerified }
}

function invitedBy({ id, role, isViewer }: RedeemedInvitation, isVerified: boolean): Admitted {
  return { role, isViewer, isVerified, invitation: { id } }
}
