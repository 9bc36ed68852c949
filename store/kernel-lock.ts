/** A lock between processes. The kernel releases it when its holder ends, so a lock never becomes stale. */

import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

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
  let held = true
  return () => {
    if (held) database.close()
    held = false
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
