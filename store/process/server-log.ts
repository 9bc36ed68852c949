/** The log file of a managed server: limited in size, and read when a start fails. */

import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'

const logBytesMax = 16 * 1024 * 1024
const tailBytesMax = 16 * 1024
const checkMs = 60_000

/**
 * Empties a server's log when it exceeds its limit. The server appends, so it continues at the beginning. The
 * descriptor stays open, since later there may be no free one, or no such path. The result closes it.
 */
export function boundLog(descriptor: number): () => void {
  emptyOverBound(descriptor)
  const timer = setInterval(emptyOverBound, checkMs, descriptor).unref()
  return () => {
    clearInterval(timer)
    closeSync(descriptor)
  }
}

function emptyOverBound(descriptor: number): void {
  try {
    if (fstatSync(descriptor).size > logBytesMax) ftruncateSync(descriptor, 0)
  } catch {
    // The next check retries a failure of the disk.
  }
}

/** Size of a server's log, from which a later read continues. */
export function logSize(logPath: string): number {
  const descriptor = openSync(logPath, 'a', 0o600)
  try {
    return fstatSync(descriptor).size
  } finally {
    closeSync(descriptor)
  }
}

/** The end of a server's log, at most from `fromByte` on; or why it cannot be read. */
export function logTail(logPath: string, fromByte: number): string {
  try {
    return readTail(logPath, fromByte)
  } catch (error) {
    return `its log cannot be read (${(error as NodeJS.ErrnoException).code})`
  }
}

function readTail(logPath: string, fromByte: number): string {
  const descriptor = openSync(logPath, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const from = Math.max(fromByte, size - tailBytesMax)
    const buffer = Buffer.alloc(Math.max(0, size - from))
    const length = readSync(descriptor, buffer, 0, buffer.length, from)
    return buffer.toString('utf8', 0, length).trim()
  } finally {
    closeSync(descriptor)
  }
}
