/** Declares the parts that account operations share. */

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
    signUp: SignUpMode
    /** Providers that may sign people in by `POST /oauth/callback`. */
    providers: readonly string[]
    tokenLifetimeSeconds: number
    registrationsPerHour: number
    /** Limit for one network. */
    mailRequestsPerHour: number
    /** Without a mail server, mails are files in the data directory. */
    sendsMail: boolean
    /** `open` lets everybody read devices; `private` lets accounts read by their role. */
    reads: 'open' | 'private'
    embedOrigins: readonly string[]
    /** An older session may not delete its account. */
    deleteWithinMs: number
  }
}

/** The operation and the sign-up page share these rules. */
export function signUpRulesOf({ settings }: AccountService) {
  const limit = { kind: 'register', countMax: settings.registrationsPerHour, windowMs: hourMs }
  return { mode: settings.signUp, limit }
}

/** The policy has refused requests without an account before. */
export function accountOf(principal: Principal | undefined): Account {
  if (principal === undefined || !('account' in principal)) throw new Error('not signed in')
  return principal.account
}
