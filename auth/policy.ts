/** Who may do what: one row for each kind of operation, one column for each credential. */

import type { Account } from './accounts/account.ts'
import type { Role } from './accounts/role.ts'
import type { DeviceScope } from './devices/device-scope.ts'
import { type Scope, scopes } from './keys/key.ts'
import type { SignedIn } from './sessions/session-claims.ts'
import type { LiveLink } from './views/link.ts'

/** What an API key may do, beside whose it is. */
interface KeyRights {
  scopes: readonly Scope[]
  createDevices: boolean
  /** It is limited to devices with all these tags; undefined: it is not. */
  tags?: readonly string[] | undefined
}

/** Who is asking. Whoever sends several credentials, or one that is not good, is nobody. */
export type Principal =
  | ({ kind: 'session' } & SignedIn)
  | ({ kind: 'bearer' } & SignedIn)
  | ({ kind: 'key'; account: Account; keyId: number } & KeyRights)
  | { kind: 'service' }
  /** The local admin token: whoever can read it in the data directory is an administrator. */
  | { kind: 'admin-token' }
  /** Whoever has the link to a view; what its owner may read bounds what it shows. */
  | { kind: 'view-link'; link: LiveLink; owner: Account }

/**
 * `own`: of one's own record. `administrator`: for an administrator, of an API key also its scope `admin`. `ingest`: for an
 * API key with this scope; `read` and `alerts` likewise. `no`: as if no credential had been sent. `forbidden`: recognised,
 * but not enough.
 */
type Rule = 'yes' | 'own' | 'administrator' | KeyRule | 'no' | 'forbidden'
type KeyRule = 'ingest' | 'read' | 'alerts'

export const policy = {
  'profile.read': { session: 'yes', bearer: 'yes', key: 'yes', service: 'no', 'admin-token': 'no', 'view-link': 'no' },
  'session.read': { session: 'yes', bearer: 'yes', key: 'no', service: 'no', 'admin-token': 'no', 'view-link': 'no' },
  // The profile, the password, keys, approval of devices, the link to a drive.
  'account.manage': {
    session: 'yes',
    bearer: 'forbidden',
    key: 'forbidden',
    service: 'forbidden',
    'admin-token': 'no',
    'view-link': 'no',
  },
  'account.read': { session: 'own', bearer: 'own', key: 'own', service: 'yes', 'admin-token': 'no', 'view-link': 'no' },
  'identity.sign-in': {
    session: 'no',
    bearer: 'no',
    key: 'no',
    service: 'yes',
    'admin-token': 'no',
    'view-link': 'no',
  },
  // Of which devices, writers.ts says; devices have credentials of their own.
  'readings.write': {
    session: 'no',
    bearer: 'no',
    key: 'ingest',
    service: 'no',
    'admin-token': 'no',
    'view-link': 'no',
  },
  // Where reads are not open to everybody; devices have credentials of their own here too.
  'readings.read': {
    session: 'yes',
    bearer: 'yes',
    key: 'read',
    service: 'no',
    'admin-token': 'yes',
    'view-link': 'yes',
  },
  // Of whose devices and rules, api/alerts/guard-alerts.ts says.
  alerts: { session: 'yes', bearer: 'no', key: 'alerts', service: 'no', 'admin-token': 'yes', 'view-link': 'no' },
  // Of which devices, `annotationScopeOf` says; readers of a device also read its annotations.
  annotations: {
    session: 'yes',
    bearer: 'no',
    key: 'ingest',
    service: 'no',
    'admin-token': 'yes',
    'view-link': 'no',
  },
  // Everything below /api/admin.
  admin: {
    session: 'administrator',
    bearer: 'no',
    key: 'administrator',
    service: 'no',
    'admin-token': 'yes',
    'view-link': 'no',
  },
} as const satisfies Record<string, Record<Principal['kind'], Rule>>

export type Permission = keyof typeof policy

export type Decision = 'allowed' | 'UNAUTHENTICATED' | 'FORBIDDEN'

/** Whether somebody may try at all; of whose record it is, `mayRead` says more. */
export function authorize(permission: Permission, principal: Principal | undefined): Decision {
  const rule: Rule = principal === undefined ? 'no' : policy[permission][principal.kind]
  if (principal === undefined || rule === 'no') return 'UNAUTHENTICATED'
  if (rule === 'forbidden') return 'FORBIDDEN'
  if (rule === 'ingest' || rule === 'read' || rule === 'alerts')
    return hasScope(principal, rule) ? 'allowed' : 'FORBIDDEN'
  return rule !== 'administrator' || isAdministrator(principal) ? 'allowed' : 'FORBIDDEN'
}

/** By the role of now. A role that is taken away takes its scopes from the keys, too (`dropScopesBeyond`). */
function isAdministrator(principal: Principal): boolean {
  if (!('account' in principal) || principal.account.role === 'user') return false
  return principal.kind !== 'key' || hasScope(principal, 'admin')
}

function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.kind === 'key' && principal.scopes.includes(scope)
}

/** Whether the record of this account may be read; undefined for one that is not there. */
export function mayRead(principal: Principal, accountId: number | undefined): boolean {
  const rule: Rule = policy['account.read'][principal.kind]
  if (rule === 'yes') return true
  return rule === 'own' && 'account' in principal && principal.account.id === accountId
}

/** Which devices somebody reads where reads are private; none before their address is confirmed. */
export type ReadScope = DeviceScope | 'EMAIL_UNVERIFIED'

const allDevices: DeviceScope = { owner: undefined, tags: undefined }

/** Of who may read at all, by `readings.read`. */
export function readScopeOf(principal: Principal): ReadScope {
  if (principal.kind === 'view-link') return readScopeOfAccount(principal.owner)
  return 'account' in principal ? readScopeOfAccount(principal.account, tagsOf(principal)) : allDevices
}

export function readScopeOfAccount(account: Account, tags?: readonly string[]): ReadScope {
  const { role, isViewer, tenantId, emailVerifiedMs, id } = account
  if (role !== 'user') return { owner: undefined, tags }
  // Anybody can register with an address of somebody else, and be given a device or the mark by it. A tenant answers for
  // its users, who are given devices by their ids.
  if (tenantId === null && emailVerifiedMs === null) return 'EMAIL_UNVERIFIED'
  return { owner: isViewer ? undefined : id, tags }
}

/** Which devices somebody writes readings of by a key. */
export function writeScopeOf(key: Extract<Principal, { kind: 'key' }>): DeviceScope {
  const { role, id } = key.account
  return { owner: role === 'user' ? id : undefined, tags: tagsOf(key) }
}

/** Whose annotations somebody writes: of the devices that they own, which a viewer does not, and administrators of all. */
export function annotationScopeOf(principal: Principal): ReadScope {
  const scope = readScopeOf(principal)
  if (scope === 'EMAIL_UNVERIFIED' || !('account' in principal) || principal.account.role !== 'user') return scope
  return { ...scope, owner: principal.account.id }
}

/** The tags to whose devices the credential is limited. */
function tagsOf(principal: Principal): readonly string[] | undefined {
  return principal.kind === 'key' ? principal.tags : undefined
}

const scopesByRole: Record<Role, readonly Scope[]> = {
  user: ['read', 'ingest', 'stations', 'alerts'],
  administrator: scopes,
  operator: scopes,
}

/** Of a key that is limited to tags: what is no device has none. */
export const scopesWithTags: readonly Scope[] = ['read', 'ingest']

/** What the keys of an account may do at most, by its role. */
export function scopesOf(role: Role): readonly Scope[] {
  return scopesByRole[role]
}
