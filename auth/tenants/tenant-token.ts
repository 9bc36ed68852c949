/** Verifies a partner's token for one of its users: a JWT with the partner's secret, valid for a few minutes. */

import { type JWTPayload, jwtVerify } from 'jose'
import { parseEmailAddress } from '../accounts/email-address.ts'
import type { TenantKeys } from './tenants.ts'

/** Identity of a user according to the tenant. */
export interface TenantUser {
  subject: string
  email: string
  name: string
  tokenId: string
  expiresMs: number
}

export interface TokenChecks {
  /** Address of the exchange: a token for another service is refused. */
  audience: string
  nowMs: number
}

const lengthMax = 8_000
const lifetimeSecondsMax = 300
const toleranceSeconds = 15
const requiredClaims = ['iss', 'aud', 'sub', 'email', 'name', 'iat', 'exp', 'jti']

/** Undefined for any invalid token. */
export async function verifyTenantToken(
  token: string,
  { slug, secrets }: TenantKeys,
  { audience, nowMs }: TokenChecks,
): Promise<TenantUser | undefined> {
  if (token.length > lengthMax) return undefined
  const checks = {
    issuer: slug,
    audience,
    algorithms: ['HS256'],
    requiredClaims,
    clockTolerance: toleranceSeconds,
    currentDate: new Date(nowMs),
  }
  for (const secret of secrets) {
    try {
      const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), checks)
      return userIn(payload, nowMs)
    } catch {
      // It may have been signed with the other secret.
    }
  }
  return undefined
}

function userIn({ sub, email, name, iat, exp, jti }: JWTPayload, nowMs: number): TenantUser | undefined {
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  if (exp - iat > lifetimeSecondsMax || iat * 1000 > nowMs + toleranceSeconds * 1000) return undefined
  if (!isText(sub, 255) || !isText(name, 100) || !isText(jti, 255) || typeof email !== 'string') return undefined
  const parsed = parseEmailAddress(email)
  if (!parsed.ok) return undefined
  // Same tolerance as the check above.
  const expiresMs = (exp + toleranceSeconds) * 1000
  return { subject: sub, email: parsed.email, name, tokenId: jti, expiresMs }
}

const controlCharacters = /\p{Cc}/u

function isText(value: unknown, lengthMax: number): value is string {
  if (typeof value !== 'string' || value === '' || value.length > lengthMax) return false
  return value.isWellFormed() && !controlCharacters.test(value)
}
