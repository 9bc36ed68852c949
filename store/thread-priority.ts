/** The priority of one thread. */

import { constants, setPriority } from 'node:os'

/**
 * `low`: background work without a waiting client. `below normal`: work with a waiting client, behind the acknowledgement of
 * readings.
 */
export type LowerPriority = 'low' | 'below normal'

const { PRIORITY_LOW, PRIORITY_BELOW_NORMAL } = constants.priority
const niceness: Record<LowerPriority, number> = { low: PRIORITY_LOW, 'below normal': PRIORITY_BELOW_NORMAL }

/** Sets the calling thread to this priority, so that threads that must answer at once run first. */
export function lowerThreadPriority(priority: LowerPriority): void {
  // On Linux the call without a number affects the calling thread (setpriority(2), NOTES), elsewhere the process.
  if (process.platform === 'linux') setPriority(niceness[priority])
}
