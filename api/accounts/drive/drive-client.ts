/** Builds the address of the drive's consent page and exchanges a code for a refresh token (RFC 6749). */

import type { Log } from '../../../store/log.ts'

export interface DriveClient {
  clientId: string
  clientSecret: string
  authorizationUrl: string
  tokenUrl: string
  scope: string
  /** Only the front end that opens the popup gets the token. */
  openerOrigin: string
}

export interface Exchange {
  code: string
  verifier: string
  redirectUri: string
}

export type Exchanged = { ok: true; refreshToken: string } | { ok: false; error: string }

const timeoutMs = 5_000
const bytesMax = 64 * 1024
const tokenLengthMax = 4_096

export interface Consent {
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
