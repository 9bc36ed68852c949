/** The priority of one thread. */

import { constants, setPriority } from 'node:os'

/**
 * `low`: for work that nobody waits for. `below normal`: for work that somebody waits for, but not as long as a single
 * reading waits for its acknowledgement.
 */
export type LowerPriority = 'low' | 'below normal'

const { PRIORITY_LOW, PRIORITY_BELOW_NORMAL } = constants.priority
const niceness: Record<LowerPriority, number> = { low: PRIORITY_LOW, 'below normal': PRIORITY_BELOW_NORMAL }

/** Puts the calling thread at this priority, so that threads that must answer at once run first. */
export function lowerThreadPriority(priority: LowerPriority): void {
  // On Linux the call without a number is about the calling thread (setpriority(2), NOTES), elsewhere about the process.
  if (process.platform === 'linux') setPriority(niceness[priority])
}
