/** A thread that computes for long leaves the processor to those that must answer at once, and so do its helpers. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** What nobody else wants of the processor it gets in full, and next to nothing of the rest. */
const threadPriority = constants.priority.PRIORITY_LOW
/** They compile and collect for all threads of the process, while an analysis runs mostly for that one. */
const helperName = 'V8Worker'
/** So much nicer than the process. */
const helperNiceness = 10
const threadsFolder = '/proc/self/task'

/**
 * Of the calling thread and V8's helpers, no other. On Linux a thread has a priority of its own, under the number that its
 * link in `/proc` ends with; elsewhere nothing is changed.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(ownThread(), threadPriority)
    const helperPriority = Math.min(threadPriority, getPriority(process.pid) + helperNiceness)
    for (const helper of readdirSync(threadsFolder).filter(isHelper)) setPriority(Number(helper), helperPriority)
  } catch {
    // Without it the answers are as right, and come as before.
  }
}

function ownThread(): number {
  return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
}

function isHelper(thread: string): boolean {
  return readFileSync(`${threadsFolder}/${thread}/comm`, 'utf8').trim() === helperName
}
