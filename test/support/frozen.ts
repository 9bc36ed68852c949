/** Freezes a database with all its processes, as a stopped virtual machine or a hung disk does. */

import { readFileSync } from 'node:fs'

/** Hands back what lets it go on. */
export function freeze(pid: number): () => void {
  // First the one that makes the others.
  process.kill(pid, 'SIGSTOP')
  const children = childrenOf(pid)
  for (const child of children) signal(child, 'SIGSTOP')
  let frozen = true
  return () => {
    if (!frozen) return
    frozen = false
    for (const each of [...children, pid]) signal(each, 'SIGCONT')
  }
}

/** Each of them has a process group of its own, so they are not reached by one signal. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** One may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
