/** Issues tokens for API clients: JWTs with a separate key. */

import { randomUUID } from 'node:crypto'
import { type JWTPayload, jwtVerify, SignJWT } from 'jose'

export interface BearerTokens {
  lifetimeSeconds: number
  issue(accountId: number, sid: string): Promise<string>
  /** The claims; undefined for a foreign or expired token. */
  verify(token: string): Promise<JWTPayload | undefined>
}

const issuer = 'barograph'
const audience = 'barograph-api'
const typ = 'at+jwt'
const lengthMax = 2_000

export function createBearerTokens(secret: string, lifetimeSeconds: number, nowMs: () => number): BearerTokens {
  const key = new TextEncoder().encode(secret)
  const checks = { issuer, audience, typ, algorithms: ['HS256'], requiredClaims: ['exp', 'iat', 'sub', 'sid'] }
  return {
    lifetimeSeconds,
    async issue(accountId, sid) {
      const seconds = Math.floor(nowMs() / 1000)
      return await new SignJWT({ sid })
        .setProtectedHeader({ alg: 'HS256', typ })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(String(accountId))
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + lifetimeSeconds)
        .setJti(randomUUID())
        .sign(key)
    },
    async verify(token) {
      if (token.length > lengthMax) return undefined
      try {
        return (await jwtVerify(token, key, { ...checks, currentDate: new Date(nowMs()) })).payload
      } catch {
        return undefined
      }
    },
  }
}
