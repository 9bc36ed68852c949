/**
 * SIGKILL at the n-th pass of one point. Each thread counts its passes. Only `directory-sync` is shared by two threads of the same
 * rows.
 */

import { basename } from 'node:path'
import { workerData } from 'node:worker_threads'
import { type FailPoint, type FaultRows, readFaultSettings } from './settings.ts'

export const faults = readFaultSettings(process.env)

/** Derived from the directory of the thread's journal. Undefined in the main thread, which has both journals. */
const rowsOfThread = rowsOf((workerData as { directory?: string } | null)?.directory)

let passes = 0

/** The main thread passes `rows` if it knows them. */
export function pass(point: FailPoint, rows = rowsOfThread): void {
  const { FAIL_POINT: deadly, FAIL_ROWS: deadlyRows } = faults
  if (rows !== undefined && rows !== deadlyRows) return
  if (point === deadly?.name && ++passes === deadly.pass) process.kill(process.pid, 'SIGKILL')
}

function rowsOf(directory: string | undefined): FaultRows | undefined {
  if (directory === undefined) return undefined
  return basename(directory) === 'points-journal' ? 'points' : 'readings'
}
