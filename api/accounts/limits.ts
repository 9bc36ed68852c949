/** Limits costly requests by network. Operations and pages share the counters. */

import type { Client } from '../../auth/accounts/account-parts.ts'
import type { TokenPurpose } from '../../auth/accounts/account-tokens.ts'
import type { AccountRefusal } from '../../auth/outcome.ts'
import type { RateLimit } from '../../auth/rate-limits.ts'
import type { AccountService } from './account-service.ts'

const hourMs = 3_600_000

export function mailRequestLimit({ settings }: AccountService, purpose: TokenPurpose): RateLimit {
  return { kind: `${purpose} by network`, countMax: settings.mailRequestsPerHour, windowMs: hourMs }
}

/** Tokens cannot be guessed. The limit bounds the cost of attempts. */
export const redeemLimit: RateLimit = { kind: 'redeem', countMax: 100, windowMs: 600_000 }

/** Counts a request of this client and refuses it above the limit. */
export async function limit(
  { accounts }: AccountService,
  rate: RateLimit,
  { network }: Client,
): Promise<AccountRefusal | undefined> {
  const retryAfterSeconds = await accounts.limits.take(rate, network)
  return retryAfterSeconds === undefined ? undefined : { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
}
