/** `POST /v1/auth/tenant-exchange`: a partner's page gets a token for the user that its server vouches for. */

import { exchangeToken } from '../../../auth/tenants/exchange.ts'
import type { Tenants } from '../../../auth/tenants/tenants.ts'
import type { AccountService } from '../account-service.ts'
import { record, text } from '../kit/fields.ts'
import { type AccountOperation, operation } from '../kit/operation.ts'
import { limit } from '../limits.ts'
import { ProfileResponse, profileResponse, TokenResponse } from '../schemas.ts'

export interface TenantService extends AccountService {
  tenants: Pick<Tenants, 'keysOf'>
  publicUrl: () => string
}

/** Tokens cannot be guessed. The limit bounds the cost of attempts. */
const exchanges = { kind: 'tenant-exchange', countMax: 600, windowMs: 600_000 }

const TenantExchangeRequest = record('TenantExchangeRequest', {
  tenant_slug: text({ min: 1, max: 40 }),
  token: text({ max: 8_000 }),
})

const TenantExchangeResponse = TokenResponse.extend({ user: ProfileResponse }).meta({
  id: 'TenantExchangeResponse',
  title: 'TenantExchangeResponse',
})

export function tenantOperations(service: TenantService): AccountOperation[] {
  const { accounts, sessions, settings, tenants, publicUrl } = service
  return [
    operation({
      method: 'POST',
      path: '/tenant-exchange',
      name: 'tenant_exchange',
      summary: 'A JWT for the user of a partner, for a token that the partner has signed',
      body: { json: TenantExchangeRequest },
      success: { status: 200, description: 'The token and the user, who may be new', json: TenantExchangeResponse },
      refusals: [
        'TENANT_TOKEN_INVALID',
        'TENANT_INACTIVE',
        'ACCOUNT_INACTIVE',
        'TENANT_UNKNOWN',
        'TOKEN_REPLAYED',
        'EMAIL_TAKEN',
        'TOO_MANY_REQUESTS',
        'UNAVAILABLE',
      ],
      async handle({ body: { tenant_slug: slug, token }, client }) {
        const refusal = await limit(service, exchanges, client)
        if (refusal !== undefined) return refusal
        const known = await exchangeToken(accounts, tenants, {
          slug,
          token,
          audience: `${publicUrl()}/v1/auth/tenant-exchange`,
        })
        if (!known.ok) return known
        const access_token = await sessions.issueBearer(known.value, client)
        const expires_in = settings.tokenLifetimeSeconds
        const user = profileResponse(known.value)
        return { ok: true, value: { access_token, token_type: 'bearer', expires_in, user } }
      },
    }),
  ]
}
