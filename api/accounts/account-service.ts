/** What the operations on accounts share. */

import type { Account } from '../../auth/accounts/account.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Principal } from '../../auth/policy.ts'
import type { SessionCodec } from '../../auth/sessions/session-codec.ts'
import type { Sessions } from '../../auth/sessions/sessions.ts'

export interface AccountService {
  accounts: Accounts
  sessions: Sessions
  keys: Pick<Keys, 'list' | 'create' | 'revoke'>
  codec: Pick<SessionCodec, 'cookieName' | 'isSecure'>
  settings: {
    /** Who may sign people in by `POST /oauth/callback`. */
    providers: readonly string[]
    tokenLifetimeSeconds: number
    registrationsPerHour: number
    /** Requests for mail, from one network. */
    mailRequestsPerHour: number
    /** How old a session may be that deletes its account. */
    deleteWithinMs: number
  }
}

/** Who is signed in; the policy has let nobody else through. */
export function accountOf(principal: Principal | undefined): Account {
  if (principal === undefined || !('account' in principal)) throw new Error('nobody is signed in')
  return principal.account
}
