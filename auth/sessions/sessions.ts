/**
 * Authenticates session tokens and tokens for API clients. The tokens are checked here. The account in memory decides
 * each time whether the account and the session are valid.
 */

import { hash, randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { LRUCache } from 'lru-cache'
import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import type { Account } from '../accounts/account.ts'
import { type AccountParts, type Client, changeAccount } from '../accounts/account-parts.ts'
import {
  accountIdOf,
  areTimesGood,
  type BearerTokens,
  checkClaims,
  type SessionCodec,
  type SignedIn,
} from './session-codec.ts'
import { insertSession, revokeSession } from './session-rows.ts'

export interface Sessions {
  /** Takes a session cookie; undefined if it is invalid. */
  fromCookie(token: string): Promise<SignedIn | undefined>
  /** Takes the decoded claims of a session cookie. */
  fromClaims(claims: JWTPayload): Promise<SignedIn | undefined>
  /** Takes a token for API clients. */
  fromBearer(token: string): Promise<SignedIn | undefined>
  /** Begins a browser's session after a sign-in. */
  start(account: Account, client: Client): Promise<KnownSession>
  /** Begins a separate session with a token for API clients. */
  issueBearer(account: Account, client: Client): Promise<string>
  issueCookie(account: Account, session: KnownSession): Promise<CookieToken>
  /** Renews the token of a session in use; undefined while the present one is fresh. */
  renewCookie(signedIn: SignedIn): Promise<CookieToken | undefined>
  /** Claims of a new cookie. */
  claimsOf(account: Account, session: SessionNames): JWTPayload
  revoke(account: Account, sid: string): Promise<void>
  /** No renewal of a cookie goes beyond this. */
  cookieLifetimeMs: number
}

export interface KnownSession {
  sid: string
  createdMs: number
}

/** Known parts of a session: a token from elsewhere may have neither. */
interface SessionNames {
  sid?: string | undefined
  createdMs?: number | undefined
}

interface CookieToken {
  token: string
  expiresMs: number
}

export interface SessionsOptions {
  parts: AccountParts
  codec: SessionCodec
  bearer: BearerTokens
  log: Log
  /** A new password cannot end a cookie that names neither a session nor the time of its sign-in. */
  refuseUnrevocable: boolean
}

const dayMs = 24 * 3_600_000
const cookieIdleMs = 30 * dayMs
const cookieLifetimeMs = 90 * dayMs

export function createSessions(options: SessionsOptions): Sessions {
  const { parts, codec, bearer } = options
  const decode = createDecode(codec)
  const signedIn = createSignedIn(options)

  async function insert(
    { id }: Account,
    { address, userAgent }: Client,
    kind: 'cookie' | 'token',
    lifetimeMs: number,
  ): Promise<KnownSession> {
    const createdMs = parts.nowMs()
    const session = { accountId: id, kind, nowMs: createdMs, lifetimeMs, address, userAgent }
    const sid = await changeAccount(parts, id, transaction => insertSession(transaction, session))
    return { sid, createdMs }
  }

  function claimsOf(
    { id, name, email, image }: Account,
    { sid, createdMs }: SessionNames,
    now = parts.nowMs(),
  ): JWTPayload {
    const expiresMs = Math.min(now + cookieIdleMs, (createdMs ?? now) + cookieLifetimeMs)
    return {
      name,
      email,
      picture: image,
      sub: String(id),
      iat: inSeconds(now),
      exp: inSeconds(expiresMs),
      jti: randomUUID(),
      ...(createdMs === undefined ? {} : { auth_time: inSeconds(createdMs) }),
      ...(sid === undefined ? {} : { sid }),
    }
  }

  async function issueCookie(account: Account, session: KnownSession, now = parts.nowMs()): Promise<CookieToken> {
    const claims = claimsOf(account, session, now)
    return { token: await codec.encode(claims), expiresMs: Number(claims.exp) * 1000 }
  }

  return {
    cookieLifetimeMs,
    claimsOf,
    issueCookie,
    fromClaims: signedIn,
    async fromCookie(token) {
      const claims = await decode(token)
      return claims && (await signedIn(claims))
    },
    async fromBearer(token) {
      const claims = await bearer.verify(token)
      return claims && (await signedIn(claims))
    },
    start: (account, client) => insert(account, client, 'cookie', cookieLifetimeMs),
    async issueBearer(account, client) {
      const { sid } = await insert(account, client, 'token', bearer.lifetimeSeconds * 1000)
      return await bearer.issue(account.id, sid)
    },
    async renewCookie({ account, sid, signedInMs: createdMs, expiresMs }) {
      // Read once, so that a clock step does not affect the comparisons below.
      const now = parts.nowMs()
      const isFresh = expiresMs - now > cookieIdleMs - dayMs
      if (isFresh || sid === undefined || createdMs === undefined) return undefined
      // Near the end of its session a renewal gains nothing.
      if (createdMs + cookieLifetimeMs - expiresMs < dayMs) return undefined
      const renewed = await issueCookie(account, { sid, createdMs }, now)
      if (renewed.expiresMs <= expiresMs) throw bug(`a cookie until ${expiresMs} is renewed until ${renewed.expiresMs}`)
      return renewed
    },
    async revoke({ id }, sid) {
      await changeAccount(parts, id, transaction => revokeSession(transaction, id, sid, parts.nowMs()))
    },
  }
}

/** Caches decryption, which is expensive and deterministic. The result is checked each time. */
function createDecode(codec: SessionCodec): (token: string) => Promise<JWTPayload | undefined> {
  const decoded = new LRUCache<string, JWTPayload>({ max: 20_000 })
  return async token => {
    const key = hash('sha256', token, 'base64url')
    const known = decoded.get(key)
    if (known !== undefined) return known
    try {
      const claims = await codec.decode(token)
      decoded.set(key, claims)
      return claims
    } catch {
      return undefined
    }
  }
}

function createSignedIn({ parts: { nowMs, memory }, log, refuseUnrevocable }: SessionsOptions) {
  let hasWarned = false
  return async (claims: JWTPayload): Promise<SignedIn | undefined> => {
    const now = nowMs()
    const id = accountIdOf(claims)
    if (id === undefined || !areTimesGood(claims, now)) return undefined
    const account = await memory.get(id)
    if (account === undefined) return undefined
    const checked = checkClaims(claims, account, now)
    if (checked.kind === 'bad') return undefined
    if (checked.kind === 'unrevocable') {
      if (refuseUnrevocable) return undefined
      if (!hasWarned) {
        log.warn(
          { account: id },
          'a session cookie has neither sid nor auth_time: no password change ends it (docs/accounts.md)',
        )
      }
      hasWarned = true
    }
    return checked.signedIn
  }
}

function inSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}
