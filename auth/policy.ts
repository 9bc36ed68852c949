/** Declares permissions: one row for each kind of operation, one column for each credential. */

import type { Account } from './accounts/account.ts'
import type { Role } from './accounts/account-details.ts'
import type { DeviceScope } from './devices/selector.ts'
import { type Scope, scopes } from './keys/key.ts'
import type { SignedIn } from './sessions/session-codec.ts'
import type { LiveLink } from './views/link.ts'

/** Rights of an API key in addition to its owner's. */
interface KeyRights {
  scopes: readonly Scope[]
  createDevices: boolean
  /** Limits the key to devices with all these tags; undefined for no limit. */
  tags?: readonly string[] | undefined
}

/** Sender of a request. Several credentials, or an invalid one, give none. */
export type Principal =
  | ({ kind: 'session' } & SignedIn)
  | ({ kind: 'bearer' } & SignedIn)
  | ({ kind: 'key'; account: Account; keyId: number } & KeyRights)
  | { kind: 'service' }
  /** The local admin token: any reader of the data directory is an administrator. */
  | { kind: 'admin-token' }
  /** The holder of a view's link. The owner's read scope bounds its contents. */
  | { kind: 'view-link'; link: LiveLink; owner: Account }

/**
 * `own`: for one's own record. `administrator`: for an administrator, with an API key also its scope `admin`. `ingest`:
 * for an API key with this scope; `read` and `alerts` likewise. `no`: like a request without a credential. `forbidden`:
 * recognised, but not sufficient.
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
  // writers.ts selects the devices. Devices have their own credentials.
  'readings.write': {
    session: 'no',
    bearer: 'no',
    key: 'ingest',
    service: 'no',
    'admin-token': 'no',
    'view-link': 'no',
  },
  // Applies to private reads. Devices have their own credentials here, too.
  'readings.read': {
    session: 'yes',
    bearer: 'yes',
    key: 'read',
    service: 'no',
    'admin-token': 'yes',
    'view-link': 'yes',
  },
  // api/alerts/guard-alerts.ts selects the devices and rules.
  alerts: { session: 'yes', bearer: 'no', key: 'alerts', service: 'no', 'admin-token': 'yes', 'view-link': 'no' },
  // `annotationScopeOf` selects the devices; readers of a device also read its annotations.
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

/** Decides about the operation. `mayRead` decides about a record. */
export function authorize(permission: Permission, principal: Principal | undefined): Decision {
  const rule: Rule = principal === undefined ? 'no' : policy[permission][principal.kind]
  if (principal === undefined || rule === 'no') return 'UNAUTHENTICATED'
  if (rule === 'forbidden') return 'FORBIDDEN'
  if (rule === 'ingest' || rule === 'read' || rule === 'alerts')
    return hasScope(principal, rule) ? 'allowed' : 'FORBIDDEN'
  return rule !== 'administrator' || isAdministrator(principal) ? 'allowed' : 'FORBIDDEN'
}

/** Uses the present role. A removed role also removes its scopes from the keys (`dropScopesBeyond`). */
function isAdministrator(principal: Principal): boolean {
  if (!('account' in principal) || principal.account.role === 'user') return false
  return principal.kind !== 'key' || hasScope(principal, 'admin')
}

function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.kind === 'key' && principal.scopes.includes(scope)
}

/** True if the account's record may be read; undefined for a missing account. */
export function mayRead(principal: Principal, accountId: number | undefined): boolean {
  const rule: Rule = policy['account.read'][principal.kind]
  if (rule === 'yes') return true
  return rule === 'own' && 'account' in principal && principal.account.id === accountId
}

/** Devices that a principal reads with private reads; none before the address is confirmed. */
export type ReadScope = DeviceScope | 'EMAIL_UNVERIFIED'

const allDevices: DeviceScope = { owner: undefined, tags: undefined }

/** Expects a principal with `readings.read`. */
export function readScopeOf(principal: Principal): ReadScope {
  if (principal.kind === 'view-link') return readScopeOfAccount(principal.owner)
  return 'account' in principal ? readScopeOfAccount(principal.account, tagsOf(principal)) : allDevices
}

export function readScopeOfAccount(account: Account, tags?: readonly string[]): ReadScope {
  const { role, isViewer, tenantId, emailVerifiedMs, id } = account
  if (role !== 'user') return { owner: undefined, tags }
  // Anybody can register with another person's address, and be given a device or the mark by it. A tenant vouches for
  // its users, who are given devices by id.
  if (tenantId === null && emailVerifiedMs === null) return 'EMAIL_UNVERIFIED'
  return { owner: isViewer ? undefined : id, tags }
}

/** Devices that a key writes readings of. */
export function writeScopeOf(key: Extract<Principal, { kind: 'key' }>): DeviceScope {
  const { role, id } = key.account
  return { owner: role === 'user' ? id : undefined, tags: tagsOf(key) }
}

/**
 * Devices whose annotations a principal writes, and whose rejected senders it sees: its own ones, and all for
 * administrators. Viewers get no more.
 */
export function annotationScopeOf(principal: Principal): ReadScope {
  const scope = readScopeOf(principal)
  if (scope === 'EMAIL_UNVERIFIED' || !('account' in principal) || principal.account.role !== 'user') return scope
  return { ...scope, owner: principal.account.id }
}

/** Tags that limit the credential's devices. */
function tagsOf(principal: Principal): readonly string[] | undefined {
  return principal.kind === 'key' ? principal.tags : undefined
}

const scopesByRole: Record<Role, readonly Scope[]> = {
  user: ['read', 'ingest', 'stations', 'alerts'],
  administrator: scopes,
  operator: scopes,
}

/** Scopes of a key with tags: only devices have tags. */
export const scopesWithTags: readonly Scope[] = ['read', 'ingest']

/** Largest set of scopes for the keys of a role. */
export function scopesOf(role: Role): readonly Scope[] {
  return scopesByRole[role]
}
