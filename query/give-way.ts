/** A thread that computes for long leaves the processor to those that must answer at once. */

import { readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** So much nicer than the process: what nobody else wants of the processor it gets in full. */
const niceness = 10

/**
 * Of the calling thread alone. On Linux a thread has a priority of its own, under the number that its link in `/proc` ends
 * with; elsewhere nothing is changed.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(process.pid) + niceness))
  } catch {
    // Without it the answers are as right, and come as before.
  }
}
