/** How often one network may do what costs us or others something; the same counters for the operations and the pages. */

import type { Client } from '../../auth/accounts/account-parts.ts'
import type { TokenPurpose } from '../../auth/accounts/account-tokens.ts'
import type { AccountRefusal } from '../../auth/outcome.ts'
import type { RateLimit } from '../../auth/rate-limits.ts'
import type { AccountService } from './account-service.ts'

const hourMs = 3_600_000

export function mailRequestLimit({ settings }: AccountService, purpose: TokenPurpose): RateLimit {
  return { kind: `${purpose} by network`, countMax: settings.mailRequestsPerHour, windowMs: hourMs }
}

/** Tokens cannot be guessed; this keeps who tries all the same from costing much. */
export const redeemLimit: RateLimit = { kind: 'redeem', countMax: 100, windowMs: 600_000 }

/** Counts a request of this client; a refusal when there were too many. */
export async function limit(
  { accounts }: AccountService,
  rate: RateLimit,
  { network }: Client,
): Promise<AccountRefusal | undefined> {
  const retryAfterSeconds = await accounts.limits.take(rate, network)
  return retryAfterSeconds === undefined ? undefined : { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
}
