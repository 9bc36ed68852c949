/** A thread that computes for long leaves the processor to those that must answer at once, and so do its helpers. */

import { execFileSync } from 'node:child_process'
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
  const thread = ownThread()
  attempt(() => lowerPriorities(thread))
  attempt(() => takeIdleTimeOnly(thread))
}

function attempt(step: () => void): void {
  try {
    step()
  } catch {
    // Without it the answers are as right, and come as before.
  }
}

function lowerPriorities(thread: number): void {
  setPriority(thread, threadPriority)
  const helperPriority = Math.min(threadPriority, getPriority(process.pid) + helperNiceness)
  for (const helper of readdirSync(threadsFolder).filter(isHelper)) setPriority(Number(helper), helperPriority)
}

/**
 * A core that runs nothing but such a thread (`SCHED_IDLE`) counts as a free one, and who wakes up is put there. However
 * nice it is otherwise, those who must answer at once would queue behind each other on the other cores. Node has no call
 * for it; `chrt` comes with util-linux and busybox. It is looked for where the system looks without a search path, since the
 * pool's threads have none.
 */
function takeIdleTimeOnly(thread: number): void {
  execFileSync('chrt', ['-i', '-p', '0', String(thread)], { stdio: 'ignore' })
}

function ownThread(): number {
  return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
}

function isHelper(thread: string): boolean {
  return readFileSync(`${threadsFolder}/${thread}/comm`, 'utf8').trim() === helperName
}
