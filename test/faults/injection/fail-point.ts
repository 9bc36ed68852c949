/** SIGKILL at the n-th pass of one point. Each thread counts its own passes; no two threads of the same rows have a point in common but `directory-sync`. */

import { basename } from 'node:path'
import { workerData } from 'node:worker_threads'
import { type FailPoint, type FaultRows, readFaultSettings } from './settings.ts'

export const faults = readFaultSettings(process.env)

/** By the directory of the thread's journal; undefined in the main thread, which has both. */
const rowsOfThread = rowsOf((workerData as { directory?: string } | null)?.directory)

let passes = 0

/** The main thread says of which rows it is, where it can. */
export function pass(point: FailPoint, rows = rowsOfThread): void {
  const { FAIL_POINT: deadly, FAIL_ROWS: deadlyRows } = faults
  if (rows !== undefined && rows !== deadlyRows) return
  if (point === deadly?.name && ++passes === deadly.pass) process.kill(process.pid, 'SIGKILL')
}

function rowsOf(directory: string | undefined): FaultRows | undefined {
  if (directory === undefined) return undefined
  return basename(directory) === 'points-journal' ? 'points' : 'readings'
}
