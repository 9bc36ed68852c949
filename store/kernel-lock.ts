/** A lock between processes that the kernel frees with its holder, however that one ends, so none is ever stale. */

import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * Takes the lock and hands back what gives it up, or undefined when another process, or another part of this one, has
 * it. SQLite holds an exclusive fcntl lock on the file for as long as its transaction is open; Node has no other way
 * to such a lock. The file stays empty. It is private: who may read a file may lock it against its owner.
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
  // Its holder may have removed it before it gave it up: then this lock would be on a file that nobody else finds.
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

/** A file that is there is not opened for that: to close it would give up the lock that another part of this process has. */
function makePrivate(path: string): void {
  const mode = 0o600
  try {
    closeSync(openSync(path, 'wx', mode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    chmodSync(path, mode)
  }
}

/** The number of the file; undefined when there is none. */
function fileAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

function isBusy(error: unknown): boolean {
  const sqliteBusy = 5
  return (error as { errcode?: number }).errcode === sqliteBusy
}
