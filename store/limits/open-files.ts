/** How many files the process may have open (RLIMIT_NOFILE): every connection is one. */

import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** For what is opened later: connections to the databases, segments of the journal, threads, imports. */
const reservedFiles = 128

/** Connections for which there is room beside our own files; call it when these are open. Infinity where nobody can tell. */
export function connectionsThatFit(): number {
  try {
    const limit = readLimit(readFileSync('/proc/self/limits', 'utf8'))
    return Math.max(1, limit - readdirSync('/proc/self/fd').length - reservedFiles)
  } catch {
    // Another system than Linux.
    return Number.POSITIVE_INFINITY
  }
}

/** The soft limit, which Node raises to the hard one when it starts. */
function readLimit(limits: string): number {
  const line = limits.split('\n').find(text => text.startsWith('Max open files'))
  const [soft = ''] = line?.slice('Max open files'.length).trim().split(' ') ?? []
  return soft === 'unlimited' || soft === '' ? Number.POSITIVE_INFINITY : Number(soft)
}

/** Tries it, which is cheaper than counting. */
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
