/** The lock on a data directory: one server at a time. */

import { chmodSync, closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
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

/** The garbage collector closes a database without a reference, which would release the lock of a running process. */
const held = new Set<DatabaseSync>()

/**
 * Takes the lock and returns a function that releases it, or undefined when another process, or another part of this one, holds it.
 * SQLite holds an exclusive fcntl lock on the file while its transaction is open; Node offers no other way to such a lock. The file
 * stays empty. It is private: a user who can read a file can lock it against its owner.
 */
export function tryKernelLock(path: string): (() => void) | undefined {
  makePrivate(path)
  const file = fileAt(path)
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
  // The previous holder may have removed the file before releasing it: this lock would be on an unlinked file.
  if (file === undefined || file !== fileAt(path)) {
    database.close()
    return undefined
  }
  held.add(database)
  return () => {
    if (held.delete(database)) database.close()
  }
}

/** An existing file is not opened here: closing it would release the lock that another part of this process holds. */
function makePrivate(path: string): void {
  const mode = 0o600
  try {
    closeSync(openSync(path, 'wx', mode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    chmodSync(path, mode)
  }
}

/** Returns the inode number, or undefined without a file. */
function fileAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

function isBusy(error: unknown): boolean {
  const sqliteBusy = 5
  return (error as { errcode?: number }).errcode === sqliteBusy
}
