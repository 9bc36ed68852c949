/** What an API key may do, and its state in memory. */

export const scopes = ['read', 'ingest', 'stations', 'alerts', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** Of keys that are neither revoked nor expired. */
export const keysPerAccountMax = 50

const scopesByName = new Map<string, readonly Scope[]>()

/** In the order of all scopes, and the same array for the same scopes: there are few, and keys may be many. */
export function scopeSet(wanted: readonly string[]): readonly Scope[] {
  const chosen = scopes.filter(scope => wanted.includes(scope))
  const name = chosen.join()
  const known = scopesByName.get(name)
  if (known !== undefined) return known
  scopesByName.set(name, chosen)
  return chosen
}

/** A key that is neither revoked nor, at the time it was read, expired. */
export interface LiveKey {
  id: number
  scopes: readonly Scope[]
  /** Readings that come by it may add devices. */
  createDevices: boolean
  /** Of the devices that it is limited to; undefined: of all that its owner has. */
  tags: readonly string[] | undefined
  /** Null for one that does not expire. */
  expiresMs: number | null
}
