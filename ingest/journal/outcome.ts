/**
 * What became of a record. `stored`: on the disk. `full`: nothing was stored, for want of room. `closing`: nothing was
 * stored, the service stops. `unknown`: the disk failed in a way that leaves it open.
 */
export type Outcome = 'stored' | 'full' | 'closing' | 'unknown'

/** Called when a record's outcome is known. */
export type Settle = (outcome: Outcome) => void
