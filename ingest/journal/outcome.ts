/**
 * Outcome of a record. `stored`: on disk. `full`: nothing was stored, for lack of room. `closing`: nothing was stored, the
 * service is stopping. `unknown`: the disk failed, and the record may or may not be stored.
 */
export type Outcome = 'stored' | 'full' | 'closing' | 'unknown'

/** Called when a record's outcome is known. */
export type Settle = (outcome: Outcome) => void
