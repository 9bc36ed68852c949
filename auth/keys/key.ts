/** Declares the scopes of an API key and its state in memory. */

export const scopes = ['read', 'ingest', 'stations', 'alerts', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** Limit of keys that are neither revoked nor expired. */
export const keysPerAccountMax = 50

const scopesByName = new Map<string, readonly Scope[]>()

/** Sorts scopes and shares one array for equal ones: there are few, and keys may be many. */
export function scopeSet(wanted: readonly string[]): readonly Scope[] {
  const chosen = scopes.filter(scope => wanted.includes(scope))
  const name = chosen.join()
  const known = scopesByName.get(name)
  if (known !== undefined) return known
  scopesByName.set(name, chosen)
  return chosen
}

/** A key that is neither revoked nor was expired when it was read. */
export interface LiveKey {
  id: number
  scopes: readonly Scope[]
  /** True if its readings may add devices. */
  createDevices: boolean
  /** Tags that limit its devices; undefined for all devices of its owner. */
  tags: readonly string[] | undefined
  /** Null for a key without expiry. */
  expiresMs: number | null
}
