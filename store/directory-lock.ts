/** The lock on a data directory: one server at a time. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tryKernelLock } from './kernel-lock.ts'
import { StartError } from './start-error.ts'

/** Takes the lock and hands back what gives it up. The file with the pid only serves the message. */
export function lockDirectory(path: string): () => void {
  const holderPath = join(path, 'lock.pid')
  const release = tryLock(path)
  if (release === undefined) {
    throw new StartError(
      `The data directory ${path} belongs to a running server (${holderText(holderPath)}): ` +
        'stop that one first, or set DATA_DIR to another folder.',
    )
  }
  writeFileSync(holderPath, `${process.pid}\n`)
  return release
}

function tryLock(path: string): (() => void) | undefined {
  try {
    return tryKernelLock(join(path, 'lock.db'))
  } catch (error) {
    throw new StartError(
      `The data directory ${path} cannot be locked (${error instanceof Error ? error.message : String(error)}): ` +
        'give this user the right to write there, or set DATA_DIR to another folder.',
    )
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
