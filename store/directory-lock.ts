/** The lock on a data directory: one server at a time. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { tryKernelLock } from './kernel-lock.ts'
import { StartError } from './start-error.ts'

/** Of its file, and the beginning of the names of files that SQLite may put beside it. */
export const lockName = 'lock.db'

/** Takes the lock and hands back what gives it up. */
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

/** As the kernel has it in proc(5), by the number of the file; the device there is not always the one of stat(2). */
function holderOf(lockPath: string): number | undefined {
  try {
    const inode = String(statSync(lockPath).ino)
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      // As in `1: POSIX ADVISORY WRITE 1234 fe:00:5678 0 EOF`; a pid of another namespace is shown as 0.
      const [, , , , pid, file] = line.split(/ +/)
      if (file?.split(':')[2] === inode && Number(pid) > 0) return Number(pid)
    }
  } catch {
    // Then it is not known.
  }
  return undefined
}
