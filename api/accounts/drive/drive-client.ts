/** Talks to Google Drive, and protects the state of a connection that is being made. */

import { hash, hkdfSync, randomBytes } from 'node:crypto'
import { EncryptJWT, jwtDecrypt } from 'jose'
import type { SignedIn } from '../../../auth/sessions/session-codec.ts'
import type { Log } from '../../../store/log.ts'

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

export interface DriveClient {
  clientId: string
  clientSecret: string
  authorizationUrl: string
  tokenUrl: string
  scope: string
  /** Only the front end that opens the popup gets the token. */
  openerOrigin: string
}

interface Exchange {
  code: string
  verifier: string
  redirectUri: string
}

export type Exchanged = { ok: true; refreshToken: string } | { ok: false; error: string }

const timeoutMs = 5_000
const bytesMax = 64 * 1024
const tokenLengthMax = 4_096

interface Consent {
  redirectUri: string
  state: string
  challenge: string
}

/** The configured address keeps its query. */
export function consentUrl(
  { authorizationUrl, clientId, scope }: DriveClient,
  { redirectUri, state, challenge }: Consent,
): string {
  const url = new URL(authorizationUrl)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** Only the result holds the token. Error texts of the provider may quote the token and are dropped. */
export async function exchangeCode(
  { clientId, clientSecret, tokenUrl }: DriveClient,
  { code, verifier, redirectUri }: Exchange,
  log: Log,
): Promise<Exchanged> {
  const form = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
    client_id: clientId,
    client_secret: clientSecret,
  }
  try {
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(form),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await readBounded(response)
    if (!response.ok) {
      log.warn({ status: response.status }, 'the provider of the drive has refused a code')
      return { ok: false, error: 'exchange_failed' }
    }
    return refreshTokenIn(text)
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, 'the provider of the drive could not be asked for a token')
    return { ok: false, error: 'exchange_failed' }
  }
}

class TooLarge extends Error {}

async function readBounded({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop ends the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new TooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function refreshTokenIn(text: string): Exchanged {
  const { refresh_token: token } = (JSON.parse(text) ?? {}) as { refresh_token?: unknown }
  if (typeof token !== 'string' || token === '') return { ok: false, error: 'no_refresh_token' }
  return token.length > tokenLengthMax ? { ok: false, error: 'exchange_failed' } : { ok: true, refreshToken: token }
}

/** The message itself is left out because it may quote the request or the response. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { cause } = error as { cause?: { code?: unknown } }
  return [error.constructor.name, error.name, cause?.code].filter(part => typeof part === 'string').join(' ')
}
