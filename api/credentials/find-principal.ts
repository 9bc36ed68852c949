/** Finds the principal of a request by its credentials. */

import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Account } from '../../auth/accounts/account.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Principal } from '../../auth/policy.ts'
import { readSessionCookie } from '../../auth/sessions/cookie-chunks.ts'
import type { SignedIn } from '../../auth/sessions/session-codec.ts'
import type { Sessions } from '../../auth/sessions/sessions.ts'
import type { ViewLinks } from '../../auth/views/links.ts'

export function visitorOf({ name, email, role, preferences }: Account) {
  return { name: name ?? email, role, language: preferences.language }
}

export type FindPrincipal = (request: IncomingMessage) => Promise<Principal | undefined>

export interface CredentialOptions {
  sessions: Pick<Sessions, 'fromCookie' | 'fromBearer'>
  cookieName: string
  keys: Pick<Keys, 'find'>
  viewLinks: Pick<ViewLinks, 'find'>
  serviceSecret: string
  /** True if the headers have the local admin token. */
  isAdminToken: (rawHeaders: readonly string[]) => boolean
  /** Throws while memory may lack changes of other nodes. */
  requireCurrent?: () => void
}

type Presented = { kind: 'cookie' | 'bearer' | 'key' | 'service'; text: string } | { kind: 'unreadable' }

/** Undefined without a credential, with an invalid one, and with several. */
export function createFindPrincipal(options: CredentialOptions): FindPrincipal {
  const { sessions, keys, viewLinks, cookieName, serviceSecret, isAdminToken, requireCurrent = () => {} } = options
  const secretDigest = hash('sha256', serviceSecret, 'buffer')

  return async request => {
    const presented = presentedIn(request, cookieName)
    const [only] = presented
    if (only === undefined || presented.length > 1 || only.kind === 'unreadable') return undefined
    // The token is the only credential, so no lookup is needed.
    if (isAdminToken(request.rawHeaders)) {
      // No change revokes the token, so it reads the state of a node at any time.
      if (request.method !== 'GET' && request.method !== 'HEAD') requireCurrent()
      return { kind: 'admin-token' }
    }
    switch (only.kind) {
      case 'cookie':
        return asPrincipal('session', await sessions.fromCookie(only.text))
      case 'bearer':
        return asPrincipal('bearer', await sessions.fromBearer(only.text))
      case 'key':
        return (await keys.find(only.text)) ?? (await viewLinks.find(only.text))
      case 'service':
        return timingSafeEqual(hash('sha256', only.text, 'buffer'), secretDigest) ? { kind: 'service' } : undefined
    }
  }
}

function asPrincipal(kind: 'session' | 'bearer', signedIn: SignedIn | undefined) {
  return signedIn && { kind, ...signedIn }
}

/** Returns every credential of a request, both of a repeated header. */
function presentedIn({ rawHeaders }: IncomingMessage, cookieName: string): Presented[] {
  const presented: Presented[] = []
  const cookies: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] ?? ''
    switch ((rawHeaders[at] ?? '').toLowerCase()) {
      case 'cookie':
        cookies.push(value)
        break
      case 'authorization':
        presented.push(ofAuthorization(value))
        break
      case 'x-api-key':
        presented.push({ kind: 'key', text: value.trim() })
        break
      case 'x-service-secret':
        presented.push({ kind: 'service', text: value.trim() })
        break
    }
  }
  const cookie = readSessionCookie(cookies.join(';'), cookieName)
  if (cookie.kind === 'token') presented.push({ kind: 'cookie', text: cookie.token })
  if (cookie.kind === 'bad') presented.push({ kind: 'unreadable' })
  return presented
}

const scheme = 'bearer '

/** A JWT has dots, an API key has none. */
function ofAuthorization(value: string): Presented {
  if (value.slice(0, scheme.length).toLowerCase() !== scheme) return { kind: 'unreadable' }
  const text = value.slice(scheme.length).trim()
  return { kind: text.includes('.') ? 'bearer' : 'key', text }
}
