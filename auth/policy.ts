/** Who may do what: one row for each kind of operation, one column for each credential. */

import type { Account, Role } from './accounts/account.ts'
import { type Scope, scopes } from './keys/key.ts'
import type { SignedIn } from './sessions/session-claims.ts'

/** Who is asking. Whoever sends several credentials, or one that is not good, is nobody. */
export type Principal =
  | ({ kind: 'session' } & SignedIn)
  | ({ kind: 'bearer' } & SignedIn)
  | { kind: 'key'; account: Account; keyId: number; scopes: readonly Scope[]; createDevices: boolean }
  | { kind: 'service' }

/** `own`: of one's own record. `no`: as if no credential had been sent. `forbidden`: recognised, but not enough. */
type Verdict = 'yes' | 'own' | 'no' | 'forbidden'

export const policy = {
  'profile.read': { session: 'yes', bearer: 'yes', key: 'yes', service: 'no' },
  'session.read': { session: 'yes', bearer: 'yes', key: 'no', service: 'no' },
  // The profile, the password, keys, approval of devices, the link to a drive.
  'account.manage': { session: 'yes', bearer: 'forbidden', key: 'forbidden', service: 'forbidden' },
  'account.read': { session: 'own', bearer: 'own', key: 'own', service: 'yes' },
  'identity.sign-in': { session: 'no', bearer: 'no', key: 'no', service: 'yes' },
} as const satisfies Record<string, Record<Principal['kind'], Verdict>>

export type Permission = keyof typeof policy

export type Judgement = 'allowed' | 'UNAUTHENTICATED' | 'FORBIDDEN'

/** Whether somebody may try at all; of whose record it is, `mayRead` says more. */
export function judge(permission: Permission, principal: Principal | undefined): Judgement {
  const verdict: Verdict = principal === undefined ? 'no' : policy[permission][principal.kind]
  if (verdict === 'no') return 'UNAUTHENTICATED'
  return verdict === 'forbidden' ? 'FORBIDDEN' : 'allowed'
}

/** Whether the record of this account may be read; undefined for one that is not there. */
export function mayRead(principal: Principal, accountId: number | undefined): boolean {
  if (principal.kind === 'service') return policy['account.read'].service === 'yes'
  return accountId !== undefined && principal.account.id === accountId
}

const scopesByRole: Record<Role, readonly Scope[]> = {
  user: ['read', 'ingest', 'stations'],
  administrator: scopes,
  operator: scopes,
}

/** What the keys of an account may do at most, by its role of now. */
export function scopesOf(role: Role): readonly Scope[] {
  return scopesByRole[role]
}
