/** Claims of a session, and their encryption in cookies and bearer tokens. */

import { createHash, hkdfSync, randomUUID } from 'node:crypto'
import { decodeProtectedHeader, EncryptJWT, type JWTPayload, jwtDecrypt, jwtVerify, SignJWT } from 'jose'
import { bug } from '../../store/limits/bug.ts'
import type { Account } from '../accounts/account.ts'

export interface SignedIn {
  account: Account
  /** Session of the token; undefined for a token from elsewhere. */
  sid: string | undefined
  /** Time of the person's sign-in, if known. */
  signedInMs: number | undefined
  expiresMs: number
}

/** `unrevocable`: a token that names neither a session nor the time of its sign-in cannot be revoked. */
type CheckedClaims = { kind: 'good' | 'unrevocable'; signedIn: SignedIn } | { kind: 'bad' }

const clockToleranceSeconds = 15
const toleranceMs = clockToleranceSeconds * 1000
const bad: CheckedClaims = { kind: 'bad' }

/** Decoded claims are cached, so their times are checked each time. */
export function areTimesGood({ exp, iat, auth_time: authTime }: JWTPayload, nowMs: number): boolean {
  if (exp === undefined || exp * 1000 + toleranceMs <= nowMs) return false
  // A sign-in in the future would be newer than any change of the password.
  return hasPassed(iat, nowMs) && (authTime === undefined || hasPassed(authTime, nowMs))
}

function hasPassed(seconds: unknown, nowMs: number): seconds is number {
  return typeof seconds === 'number' && seconds * 1000 <= nowMs + toleranceMs
}

/** Expects claims with valid times. */
export function checkClaims(claims: JWTPayload, account: Account, nowMs: number): CheckedClaims {
  const { sid, auth_time: authTime } = claims
  const expiresMs = (claims.exp ?? 0) * 1000
  if (account.id !== accountIdOf(claims)) throw bug(`claims of ${claims.sub} are judged by account ${account.id}`)
  if (!account.isActive) return bad
  if (sid !== undefined) return bySession(account, sid, expiresMs, nowMs)
  if (authTime === undefined) {
    return { kind: 'unrevocable', signedIn: { account, sid: undefined, signedInMs: undefined, expiresMs } }
  }
  const signedInMs = Number(authTime) * 1000
  if (signedInMs < (account.tokensValidAfterMs ?? Number.NEGATIVE_INFINITY)) return bad
  return { kind: 'good', signedIn: { account, sid: undefined, signedInMs, expiresMs } }
}

function bySession(account: Account, sid: unknown, expiresMs: number, nowMs: number): CheckedClaims {
  const session = typeof sid === 'string' ? account.sessions.get(sid) : undefined
  if (session === undefined || session.expiresMs <= nowMs) return bad
  return {
    kind: 'good',
    signedIn: {
      account,
      sid: String(sid),
      signedInMs: session.createdMs,
      expiresMs: Math.min(expiresMs, session.expiresMs),
    },
  }
}

const idMax = 2_147_483_647

/** A text of decimal digits. The claims come from outside, so a text by its type may be a number. */
export function accountIdOf({ sub }: Record<string, unknown>): number | undefined {
  if (typeof sub !== 'string' || !/^\d{1,10}$/.test(sub)) return undefined
  const id = Number(sub)
  return id >= 1 && id <= idMax ? id : undefined
}

export type SessionFormat = 'jwe-v5' | 'jwe-v4' | 'hs256'

export interface SessionCodec {
  cookieName: string
  /** True if browsers send the cookie over HTTPS only. */
  isSecure: boolean
  /** Rejects a token with a foreign secret or form, an expired one, and one that lacks a claim. */
  decode(token: string): Promise<JWTPayload>
  /** Uses the first secret. */
  encode(claims: JWTPayload): Promise<string>
}

interface SessionCodecOptions {
  format: SessionFormat
  /** The first one encrypts. The others are former ones. */
  secrets: readonly string[]
  /** True if browsers use HTTPS, which changes the cookie's name. */
  isSecure: boolean
  nowMs: () => number
}

interface Checks {
  clockTolerance: number
  currentDate: Date
  requiredClaims: string[]
}

/** One secret in one form. */
interface SessionKey {
  /** Key id in the tokens' header; undefined in forms without. */
  keyId: string | undefined
  open(token: string, checks: Checks): Promise<JWTPayload>
  seal(claims: JWTPayload): Promise<string>
}

export function createSessionCodec({ format, secrets, isSecure, nowMs }: SessionCodecOptions): SessionCodec {
  const cookieName = cookieNameOf(format, isSecure)
  const keys = secrets.map(secret => keyMakers[format](secret, cookieName))
  const [first] = keys
  if (first === undefined) throw new Error('session tokens need a secret')
  return {
    cookieName,
    isSecure,
    async decode(token) {
      const currentDate = new Date(nowMs())
      const checks = { clockTolerance: clockToleranceSeconds, currentDate, requiredClaims: ['exp', 'iat', 'sub'] }
      let fault: unknown = new Error('no key of ours')
      const { kid } = first.keyId === undefined ? {} : decodeProtectedHeader(token)
      for (const key of keys) {
        if (key.keyId !== kid) continue
        try {
          return await key.open(token, checks)
        } catch (error) {
          fault = error
        }
      }
      throw fault
    },
    encode: claims => first.seal(claims),
  }
}

const keyMakers: Record<SessionFormat, (secret: string, cookieName: string) => SessionKey> = {
  'jwe-v5': (secret, cookieName) => {
    const info = `Auth.js Generated Encryption Key (${cookieName})`
    const key = new Uint8Array(hkdfSync('sha256', secret, cookieName, info, 64))
    return encryptedKey(key, 'A256CBC-HS512', thumbprintOf(key))
  },
  'jwe-v4': secret => {
    const key = new Uint8Array(hkdfSync('sha256', secret, '', 'NextAuth.js Generated Encryption Key', 32))
    return encryptedKey(key, 'A256GCM', undefined)
  },
  hs256: secret => {
    const key = new TextEncoder().encode(secret)
    return {
      keyId: undefined,
      open: async (token, checks) => (await jwtVerify(token, key, { ...checks, algorithms: ['HS256'] })).payload,
      seal: claims => new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key),
    }
  },
}

function encryptedKey(key: Uint8Array, enc: string, keyId: string | undefined): SessionKey {
  const allowed = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: [enc] }
  const header = { alg: 'dir', enc, ...(keyId === undefined ? {} : { kid: keyId }) }
  return {
    keyId,
    open: async (token, checks) => (await jwtDecrypt(token, key, { ...checks, ...allowed })).payload,
    seal: claims => new EncryptJWT(claims).setProtectedHeader(header).encrypt(key),
  }
}

/** RFC 7638, with SHA-512. */
function thumbprintOf(key: Uint8Array): string {
  const k = Buffer.from(key).toString('base64url')
  return createHash('sha512')
    .update(JSON.stringify({ k, kty: 'oct' }))
    .digest('base64url')
}

function cookieNameOf(format: SessionFormat, isSecure: boolean): string {
  const name = format === 'jwe-v4' ? 'next-auth.session-token' : 'authjs.session-token'
  return isSecure ? `__Secure-${name}` : name
}

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
