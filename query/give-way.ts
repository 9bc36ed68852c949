/** A thread that computes for long leaves the processor to those that must answer at once. */

import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** As low as a job in the background has it: what nobody else wants it gets in full. */
const niceness = 10

/**
 * Of the calling thread alone. On Linux a thread has a priority of its own, under the number that its link in `/proc` ends
 * with; elsewhere nothing is changed.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, niceness)
  } catch {
    // Without it the answers are as right, and come as before.
  }
}
