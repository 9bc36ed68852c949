/** The lock on a data directory: one server at a time. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { tryKernelLock } from './kernel-lock.ts'
import { StartError } from './start-error.ts'

/** Name of the lock file, and prefix of the files that SQLite may create beside it. */
export const lockName = 'lock.db'

/** Takes the lock and returns a function that releases it. */
export function lockDirectory(path: string): () => void {
  const lockPath = join(path, lockName)
  const release = tryLock(path, lockPath)
  if (release !== undefined) return release
  const pid = holderOf(lockPath)
  const holder =
    pid === undefined ? 'a process that cannot be seen from here, perhaps in another container' : `the process ${pid}`
  throw new StartError(
    `The data directory ${path} is locked by ${holder}, usually a running server: ` +
      'stop it first, or set DATA_DIR to another directory.',
  )
}

function tryLock(path: string, lockPath: string): (() => void) | undefined {
  try {
    return tryKernelLock(lockPath)
  } catch (error) {
    throw new StartError(
      `The data directory ${path} cannot be locked (${error instanceof Error ? error.message : String(error)}): ` +
        'grant this user write permission, or set DATA_DIR to another directory.',
    )
  }
}

/** Looks for the inode in /proc/locks (proc(5)), whose device number may differ from stat(2). */
function holderOf(lockPath: string): number | undefined {
  try {
    const inode = String(statSync(lockPath).ino)
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      // A line reads `1: POSIX ADVISORY WRITE 1234 fe:00:5678 0 EOF`. A pid of another namespace is shown as 0.
      const [, , , , pid, file] = line.split(/ +/)
      if (file?.split(':')[2] === inode && Number(pid) > 0) return Number(pid)
    }
  } catch {
    // The holder stays unknown.
  }
  return undefined
}
