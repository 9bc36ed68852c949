/** Who may do what with stations: one row for each operation. Everything is asked by API key. */

import type { Scope } from '../keys/key.ts'
import type { Principal } from '../policy.ts'
import type { Station } from './station.ts'

export type KeyPrincipal = Extract<Principal, { kind: 'key' }>

/** `reader`: of a public station anybody, of a private one its owner and administrators. */
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

/** Which scope of an API key it takes, and whose key. */
export function requirementOf(operation: StationOperation): Rule {
  return rules[operation]
}

type Owned = Pick<Station, 'owner' | 'private'>

/** Without a station, whether somebody may do it with any. */
export function mayUse(operation: StationOperation, key: KeyPrincipal, station?: Owned): boolean {
  const { scope, who }: Rule = rules[operation]
  if (!key.scopes.includes(scope)) return false
  const { role, id } = key.account
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
