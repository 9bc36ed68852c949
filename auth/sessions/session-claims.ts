/** Checks the claims of a token: its times, its account and its session. */

import type { JWTPayload } from 'jose'
import { bug } from '../../store/limits/bug.ts'
import type { Account } from '../accounts/account.ts'
import { clockToleranceSeconds } from './session-codec.ts'

export interface SignedIn {
  account: Account
  /** Session of the token; undefined for a token from elsewhere. */
  sid: string | undefined
  /** Time of the person's sign-in, if known. */
  signedInMs: number | undefined
  expiresMs: number
}

/** `unrevocable`: a token that names neither a session nor the time of its sign-in cannot be revoked. */
export type CheckedClaims = { kind: 'good' | 'unrevocable'; signedIn: SignedIn } | { kind: 'bad' }

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
