/** Freezes processes, as a stopped virtual machine or a hung disk does. */

import { readdirSync, readFileSync } from 'node:fs'

/** Freezes a database with all its processes. Returns a function that resumes it. */
export function freeze(pid: number): () => void {
  // The parent is stopped first.
  freezeProcess(pid)
  const children = childrenOf(pid)
  for (const child of children) freezeProcess(child)
  let frozen = true
  return () => {
    if (!frozen) return
    frozen = false
    for (const each of [...children, pid]) signal(each, 'SIGCONT')
  }
}

/** This process alone. Returns when every thread has stopped: until then one may still answer. */
export function freezeProcess(pid: number): void {
  signal(pid, 'SIGSTOP')
  const never = new Int32Array(new SharedArrayBuffer(4))
  while (isAnyThreadRunning(pid)) Atomics.wait(never, 0, 0, 1)
}

function isAnyThreadRunning(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some(thread => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
      // Behind the name, which may hold anything: stopped, traced, or ended.
      return !['T', 't', 'Z', 'X'].includes(stat.charAt(stat.lastIndexOf(')') + 2))
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A thread has ended while it was looked at.
    if (code === 'ESRCH' || code === 'ENOENT') return isThere(pid)
    throw error
  }
}

function isThere(pid: number): boolean {
  return signal(pid, 0)
}

/** Each of them has a process group of its own, so they are not reached by one signal. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** False when it has ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}
