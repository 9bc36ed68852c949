/** Finds a request by the typed code and binds it to the session. */

import type { AccountParts, Client } from '../accounts/account-parts.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import type { SignedIn } from '../sessions/session-claims.ts'
import { digestOfCode, formatUserCode, parseUserCode } from './codes.ts'
import { type Grant, type GrantState, grantColumns, oneGrant, stateOf } from './grant.ts'

/** The person at the browser, and the origin of the request. */
export interface Viewer {
  signedIn: SignedIn
  client: Client
}

export interface GrantInfo {
  userCode: string
  /** The device's untrusted name for itself. */
  clientName: string
  address: string
  status: Exclude<GrantState, 'consumed' | 'expired'>
  createdMs: number
  expiresMs: number
}

export async function lookUpGrant(parts: AccountParts, typed: string, viewer: Viewer): Promise<Outcome<GrantInfo>> {
  const found = await findForViewer(parts, typed, viewer)
  if (!found.ok) return found
  const { clientName, address, createdMs, expiresMs } = found.value
  const state = stateOf(found.value, parts.nowMs())
  if (state === 'expired') return refused('GRANT_EXPIRED')
  const status = state === 'consumed' ? 'approved' : state
  const userCode = formatUserCode(parseUserCode(typed) ?? '')
  return accepted({ userCode, clientName, address, status, createdMs, expiresMs })
}

/** Finds the request of a code, bound to the session that typed it. */
export function findForViewer(parts: AccountParts, typed: string, viewer: Viewer): Promise<Outcome<Grant>> {
  const session = sessionOf(viewer)
  const who = { account: String(viewer.signedIn.account.id), network: viewer.client.network }
  return parts.codeGuesses.run(who, async () => {
    const grant = await bind(parts, typed, session)
    if (grant === undefined) return refused('GRANT_UNKNOWN')
    return grant.viewer === session ? accepted(grant) : refused('GRANT_FOREIGN')
  })
}

/** One statement, so that only one of several concurrent sessions gets it. */
async function bind({ pool }: AccountParts, typed: string, viewer: string): Promise<Grant | undefined> {
  const code = parseUserCode(typed)
  if (code === undefined) return undefined
  const text = `UPDATE device_grants SET viewer = coalesce(viewer, $2) WHERE user_digest = $1 RETURNING ${grantColumns}`
  return await oneGrant(pool, text, [digestOfCode(code), viewer])
}

/** Tokens from elsewhere may lack a session, so the account replaces it. */
function sessionOf({ signedIn: { sid, account } }: Viewer): string {
  return sid === undefined ? `account ${account.id}` : `session ${sid}`
}
