/** What an API key may do, and its state in memory. */

export const scopes = ['read', 'ingest', 'stations', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** Of keys that are neither revoked nor expired. */
export const keysPerAccountMax = 50

/** A key that is neither revoked nor, at the time it was read, expired. */
export interface LiveKey {
  scopes: readonly Scope[]
  /** Readings that come by it may add devices. */
  createDevices: boolean
  /** Null for one that does not expire. */
  expiresMs: number | null
}
