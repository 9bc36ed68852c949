/** The limit of open files of the process (RLIMIT_NOFILE). Every connection is one. */

import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** Reserve for files opened later: database connections, journal segments, threads, imports. */
const reservedFiles = 128

/** Returns how many connections fit beside our own files; call it when these are open. Infinity where the limit is unknown. */
export function connectionsThatFit(): number {
  try {
    const limit = readLimit(readFileSync('/proc/self/limits', 'utf8'))
    return Math.max(1, limit - readdirSync('/proc/self/fd').length - reservedFiles)
  } catch {
    // The system is not Linux.
    return Number.POSITIVE_INFINITY
  }
}

/** The soft limit. Node raises it to the hard limit at its start. */
function readLimit(limits: string): number {
  const line = limits.split('\n').find(text => text.startsWith('Max open files'))
  const [soft = ''] = line?.slice('Max open files'.length).trim().split(' ') ?? []
  return soft === 'unlimited' || soft === '' ? Number.POSITIVE_INFINITY : Number(soft)
}

/** Opens a file, which is cheaper than counting the open ones. */
export function areFilesExhausted(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return false
  } catch (error) {
    return isOutOfFiles(error)
  }
}

export function isOutOfFiles(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EMFILE' || code === 'ENFILE'
}
