/** Declares permissions on stations: one row for each operation, for the air-quality API and for the admin API. */

import type { Account } from '../accounts/account.ts'
import type { Scope } from '../keys/key.ts'
import { authorize, type Principal, readScopeOf } from '../policy.ts'
import type { Station } from './station.ts'

export type KeyPrincipal = Extract<Principal, { kind: 'key' }>

/** `reader`: everybody for a public station, its owner and administrators for a private one. */
interface Rule {
  scope: Scope
  who: 'reader' | 'owner or administrator' | 'administrator' | 'operator'
}

const rules = {
  read: { scope: 'read', who: 'reader' },
  'points.add': { scope: 'ingest', who: 'owner or administrator' },
  add: { scope: 'stations', who: 'administrator' },
  change: { scope: 'stations', who: 'owner or administrator' },
  remove: { scope: 'stations', who: 'operator' },
} as const satisfies Record<string, Rule>

export type StationOperation = keyof typeof rules

/** Scope and owner of the API key that the operation requires. */
export function requirementOf(operation: StationOperation): Rule {
  return rules[operation]
}

type Owned = Pick<Station, 'owner' | 'private'>

/** Without a station, decides whether the key may do it with any. */
export function mayUse(operation: StationOperation, key: KeyPrincipal, station?: Owned): boolean {
  const { scope, who }: Rule = rules[operation]
  // Stations have no tags.
  return key.tags === undefined && key.scopes.includes(scope) && isAmong(who, key.account, station)
}

/** Decides for the admin API, which requires no scope for stations. The local admin token acts for the operator. */
export function mayAdminister(operation: StationOperation, principal: Principal): boolean {
  if (principal.kind === 'admin-token') return true
  return 'account' in principal && isAmong(rules[operation].who, principal.account, undefined)
}

/**
 * Decides for the reads of this service, which are open or have admitted the principal; undefined without one. Anybody
 * may register with another person's address, and be given a station by it.
 */
export function mayReadStation(principal: Principal | undefined, station: Owned): boolean {
  if (!station.private) return true
  if (principal === undefined || authorize('readings.read', principal) !== 'allowed') return false
  if (principal.kind === 'admin-token') return true
  if (!('account' in principal)) return false
  const scope = readScopeOf(principal)
  return scope !== 'EMAIL_UNVERIFIED' && scope.tags === undefined && isAmong(rules.read.who, principal.account, station)
}

function isAmong(who: Rule['who'], { role, id }: Pick<Account, 'role' | 'id'>, station: Owned | undefined): boolean {
  const isAdministrator = role !== 'user'
  switch (who) {
    case 'reader':
      return station === undefined || !station.private || station.owner === id || isAdministrator
    case 'owner or administrator':
      return station === undefined || station.owner === id || isAdministrator
    case 'administrator':
      return isAdministrator
    case 'operator':
      return role === 'operator'
  }
}
