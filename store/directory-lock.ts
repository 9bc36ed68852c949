/** The lock on a data directory: one process at a time, freed by the kernel however that process ends. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartError } from './start-error.ts'

/**
 * Takes the lock and hands back what gives it up. SQLite holds an exclusive fcntl lock on `lock.db` for as long as the
 * transaction is open; the kernel frees it with the process, so nobody ever has to judge whether a lock is stale.
 * Node has no other way to such a lock. The file beside it only serves the message.
 */
export function lockDirectory(path: string): () => void {
  const holderPath = join(path, 'lock.pid')
  const database = openLockFile(path)
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw cannotLock(path, error)
    throw new StartError(
      `The data directory ${path} belongs to a running server (${holderText(holderPath)}): ` +
        'stop that one first, or set DATA_DIR to another folder.',
    )
  }
  writeFileSync(holderPath, `${process.pid}\n`)
  let open = true
  return () => {
    if (open) database.close()
    open = false
  }
}

function openLockFile(path: string): DatabaseSync {
  try {
    return new DatabaseSync(join(path, 'lock.db'))
  } catch (error) {
    throw cannotLock(path, error)
  }
}

function holderText(holderPath: string): string {
  try {
    const pid = readFileSync(holderPath, 'utf8').trim()
    return /^\d+$/.test(pid) ? `pid ${pid}` : 'pid not known yet'
  } catch {
    return 'pid not known yet'
  }
}

function isBusy(error: unknown): boolean {
  const sqliteBusy = 5
  return (error as { errcode?: number }).errcode === sqliteBusy
}

function cannotLock(path: string, error: unknown): StartError {
  return new StartError(
    `The data directory ${path} cannot be locked (${error instanceof Error ? error.message : String(error)}): ` +
      'give this user the right to write there, or set DATA_DIR to another folder.',
  )
}
