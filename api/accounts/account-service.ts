/** What the operations on accounts share. */

import type { Account } from '../../auth/accounts/account.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Principal } from '../../auth/policy.ts'
import type { SessionCodec } from '../../auth/sessions/session-codec.ts'
import type { Sessions } from '../../auth/sessions/sessions.ts'
import type { ViewLinks } from '../../auth/views/links.ts'

const hourMs = 3_600_000

export interface AccountService {
  accounts: Accounts
  sessions: Sessions
  keys: Pick<Keys, 'list' | 'create' | 'revoke'>
  viewLinks: ViewLinks
  codec: Pick<SessionCodec, 'cookieName' | 'isSecure'>
  settings: {
    /** Who may make an account. */
    signUp: SignUpMode
    /** Who may sign people in by `POST /oauth/callback`. */
    providers: readonly string[]
    tokenLifetimeSeconds: number
    registrationsPerHour: number
    /** Requests for mail, from one network. */
    mailRequestsPerHour: number
    /** By a mail server; without one, mails are files in the data directory. */
    sendsMail: boolean
    /** Who can read devices: everybody, or accounts by their role. */
    reads: 'open' | 'private'
    /** Sites that may show links to views in a frame. */
    embedOrigins: readonly string[]
    /** How old a session may be that deletes its account. */
    deleteWithinMs: number
  }
}

/** For the operation and the page alike. */
export function signUpRulesOf({ settings }: AccountService) {
  const limit = { kind: 'register', countMax: settings.registrationsPerHour, windowMs: hourMs }
  return { mode: settings.signUp, limit }
}

/** Who is signed in; the policy has let nobody else through. */
export function accountOf(principal: Principal | undefined): Account {
  if (principal === undefined || !('account' in principal)) throw new Error('not signed in')
  return principal.account
}
