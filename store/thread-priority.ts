/** The priority of one thread. */

import { constants, setPriority } from 'node:os'

/** Puts the calling thread at the lowest priority, so that threads that must answer at once run first. */
export function lowerThreadPriority(): void {
  // On Linux the call without a number is about the calling thread (setpriority(2), NOTES), elsewhere about the process.
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)
}
