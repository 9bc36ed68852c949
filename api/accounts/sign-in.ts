/** Operations that begin and end a session, also by a tenant's token. */

import { signInWithProvider } from '../../auth/accounts/provider-sign-in.ts'
import { authenticate } from '../../auth/accounts/sign-in.ts'
import { admissionByProvider, signUp } from '../../auth/accounts/sign-up.ts'
import { exchangeToken } from '../../auth/tenants/exchange.ts'
import type { Tenants } from '../../auth/tenants/tenants.ts'
import { type AccountService, signUpRulesOf } from './account-service.ts'
import { record, text } from './kit/fields.ts'
import { type AccountOperation, operation } from './kit/operation.ts'
import { limit } from './limits.ts'
import {
  LoginCredentials,
  Message,
  OAuthUserData,
  ProfileResponse,
  profileResponse,
  TokenResponse,
  UserCreate,
  UserResponse,
  userResponse,
} from './schemas.ts'

export function signInOperations(service: AccountService): AccountOperation[] {
  const { accounts, sessions, settings } = service
  return [
    operation({
      method: 'POST',
      path: '/register',
      name: 'register',
      summary: 'Register a user with e-mail and password',
      body: { json: UserCreate },
      success: { status: 201, description: 'The new user', json: UserResponse },
      refusals: [
        'TOKEN_INVALID',
        'REGISTRATION_INVITED',
        'REGISTRATION_CLOSED',
        'EMAIL_TAKEN',
        'TOO_MANY_REQUESTS',
        'UNAVAILABLE',
      ],
      async handle({ body: { email, password, name = null, token }, client }) {
        const wanted = { email, password, name, token: token ?? undefined }
        const registered = await signUp(accounts, signUpRulesOf(service), wanted, client)
        return registered.ok ? { ok: true, value: userResponse(registered.value) } : registered
      },
    }),
    operation({
      method: 'POST',
      path: '/login',
      name: 'login',
      summary: 'Check e-mail and password',
      body: { json: LoginCredentials },
      success: { status: 200, description: 'The user', json: UserResponse },
      refusals: ['CREDENTIALS_WRONG', 'ACCOUNT_INACTIVE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ body, client }) {
        const known = await authenticate(accounts, body, client)
        return known.ok ? { ok: true, value: userResponse(known.value) } : known
      },
    }),
    operation({
      method: 'POST',
      path: '/logout',
      name: 'logout',
      summary: 'End the session of the request',
      success: {
        status: 200,
        description: 'Also without a session. Pages of other sites cannot end the session of a cookie.',
        json: Message,
      },
      refusals: [],
      async handle({ identify, isCrossSite }) {
        const who = await identify()
        const canEnd = who?.kind === 'bearer' || (who?.kind === 'session' && !isCrossSite)
        if (canEnd && who.sid !== undefined) await sessions.revoke(who.account, who.sid)
        return { ok: true, value: { message: 'Logged out' } }
      },
    }),
    operation({
      method: 'POST',
      path: '/token',
      name: 'create_token',
      summary: 'A JWT for API clients',
      body: { json: LoginCredentials },
      success: { status: 200, description: 'The token', json: TokenResponse },
      refusals: ['CREDENTIALS_WRONG', 'ACCOUNT_INACTIVE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ body, client }) {
        const known = await authenticate(accounts, body, client)
        if (!known.ok) return known
        const token = await sessions.issueBearer(known.value, client)
        const expires_in = settings.tokenLifetimeSeconds
        return { ok: true, value: { access_token: token, token_type: 'bearer', expires_in } }
      },
    }),
  ]
}

export function providerSignInOperation(service: AccountService): AccountOperation {
  const { accounts, settings } = service
  return operation({
    method: 'POST',
    path: '/oauth/callback',
    name: 'oauth_callback',
    permission: 'identity.sign-in',
    summary: 'Sign in by an external identity provider; for the front end, with the service secret',
    body: { json: OAuthUserData },
    aliases: { provider_id: 'provider_account_id' },
    success: { status: 200, description: 'The user, who may be new', json: UserResponse },
    refusals: [
      'UNAUTHENTICATED',
      'PROVIDER_UNKNOWN',
      'ACCOUNT_INACTIVE',
      'REGISTRATION_INVITED',
      'REGISTRATION_CLOSED',
      'IDENTITY_NOT_LINKED',
      'UNAVAILABLE',
    ],
    async handle({ body }) {
      const { provider, provider_account_id: providerAccountId, email, name = null, image = null } = body
      if (!settings.providers.includes(provider)) return { ok: false, code: 'PROVIDER_UNKNOWN' }
      const isEmailVerified = body.email_verified === true
      const identity = { provider, providerAccountId, email, name, image, isEmailVerified }
      const known = await signInWithProvider(
        accounts,
        identity,
        admissionByProvider(accounts, settings.signUp, identity),
      )
      return known.ok ? { ok: true, value: userResponse(known.value) } : known
    },
  })
}

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
