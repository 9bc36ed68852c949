/** Whether the claims of a token are still good: the times in it, its account, and its session. */

import type { JWTPayload } from 'jose'
import { bug } from '../../store/limits/bug.ts'
import type { Account } from '../accounts/account.ts'
import { clockToleranceSeconds } from './session-codec.ts'

export interface SignedIn {
  account: Account
  /** The session that the token names; undefined for a token made elsewhere. */
  sid: string | undefined
  /** When the person has signed in, as far as that is known. */
  signedInMs: number | undefined
  expiresMs: number
}

/** `unrevocable`: a token that names neither a session nor the time of its sign-in cannot be ended. */
export type CheckedClaims = { kind: 'good' | 'unrevocable'; signedIn: SignedIn } | { kind: 'bad' }

const toleranceMs = clockToleranceSeconds * 1000
const bad: CheckedClaims = { kind: 'bad' }

/** Once decoded, claims are kept for a while, so their times are looked at each time. */
export function areTimesGood({ exp, iat, auth_time: authTime }: JWTPayload, nowMs: number): boolean {
  if (exp === undefined || exp * 1000 + toleranceMs <= nowMs) return false
  // A sign-in that lies ahead would be newer than any change of the password.
  return hasPassed(iat, nowMs) && (authTime === undefined || hasPassed(authTime, nowMs))
}

function hasPassed(seconds: unknown, nowMs: number): seconds is number {
  return typeof seconds === 'number' && seconds * 1000 <= nowMs + toleranceMs
}

/** Of claims whose times are good. */
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

/** Text of decimal digits. The claims come from outside, so what TypeScript takes for text may be a number. */
export function accountIdOf({ sub }: Record<string, unknown>): number | undefined {
  if (typeof sub !== 'string' || !/^\d{1,10}$/.test(sub)) return undefined
  const id = Number(sub)
  return id >= 1 && id <= idMax ? id : undefined
}
