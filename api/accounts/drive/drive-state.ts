/**
 * The `state` of the round to the provider and back: encrypted, for one account, one session and one browser. The
 * browser keeps the other half in a cookie, from which PKCE's verifier follows, so that no address ever shows it.
 */

import { hash, hkdfSync, randomBytes } from 'node:crypto'
import { EncryptJWT, jwtDecrypt } from 'jose'
import type { SignedIn } from '../../../auth/sessions/session-claims.ts'

export interface DriveStates {
  /** `secret` is for the cookie, `state` for the address. */
  issue(signedIn: SignedIn): Promise<{ secret: string; state: string }>
  /** Undefined for a foreign or expired state, and for another account, session or browser. */
  open(state: string, secret: string, signedIn: SignedIn): Promise<OpenedState | undefined>
}

interface OpenedState {
  /** Marks the state as used. */
  nonce: string
  expiresMs: number
}

export const stateLifetimeSeconds = 600
const lengthMax = 2_000

/** `purpose` separates values that are encrypted with the same secret. */
export function createDriveStates(secretText: string, purpose: string, nowMs: () => number): DriveStates {
  const key = new Uint8Array(hkdfSync('sha256', secretText, '', `barograph state: ${purpose}`, 32))
  const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
  return {
    async issue({ account, sid }) {
      const secret = randomBytes(32).toString('base64url')
      const seconds = Math.floor(nowMs() / 1000)
      const state = await new EncryptJWT({ nonce: nonceOf(secret), ...(sid === undefined ? {} : { sid }) })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setAudience(purpose)
        .setSubject(String(account.id))
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + stateLifetimeSeconds)
        .encrypt(key)
      return { secret, state }
    },
    async open(state, secret, { account, sid }) {
      if (state.length > lengthMax) return undefined
      const checks = { audience: purpose, subject: String(account.id), requiredClaims: ['exp', 'nonce'] }
      try {
        const { payload } = await jwtDecrypt(state, key, { ...algorithms, ...checks, currentDate: new Date(nowMs()) })
        if (payload['sid'] !== sid || payload['nonce'] !== nonceOf(secret)) return undefined
        return { nonce: nonceOf(secret), expiresMs: (payload.exp ?? 0) * 1000 }
      } catch {
        return undefined
      }
    },
  }
}

function nonceOf(secret: string): string {
  return hash('sha256', `nonce ${secret}`, 'base64url')
}

/** PKCE (RFC 7636). */
export function verifierOf(secret: string): string {
  return hash('sha256', `verifier ${secret}`, 'base64url')
}

export function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url')
}
